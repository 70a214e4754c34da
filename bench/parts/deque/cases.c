/* Run one case: pairs, runs or steals, with thieves. */
#include "cases.h"

#include "base/clock.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OUT = 64 };

typedef struct thieves {
    fi_deque *deque;
    atomic_bool stop;
    atomic_int ready;
    atomic_long stolen;
    int n;
    pthread_t thread[CASE_THIEVES_MAX];
} thieves;

static void *thief_main(void *arg)
{
    thieves *t = arg;
    void *out[MAX_OUT];
    long stolen = 0;
    atomic_fetch_add(&t->ready, 1);
    while (!atomic_load_explicit(&t->stop, memory_order_relaxed)) {
        int n = fi_deque_steal(t->deque, out, MAX_OUT);
        if (n > 0)
            stolen += n;
    }
    atomic_fetch_add(&t->stolen, stolen);
    return NULL;
}

static void thieves_start(thieves *t, fi_deque *d, int n)
{
    memset(t, 0, sizeof *t);
    t->deque = d;
    t->n = n;
    for (int i = 0; i < n; i++)
        if (pthread_create(&t->thread[i], NULL, thief_main, t) != 0)
            abort();
    while (atomic_load(&t->ready) < n)
        sched_yield();
}

static void thieves_stop(thieves *t)
{
    atomic_store(&t->stop, true);
    for (int i = 0; i < t->n; i++)
        pthread_join(t->thread[i], NULL);
}

/* ---- the three cases ---- */

static void pairs(fi_deque *d, long n, case_result *m)
{
    long popped = 0;
    int64_t began = fi_clock_now();
    for (long i = 0; i < n; i++) {
        fi_deque_push(d, d);
        popped += fi_deque_pop(d) != NULL;
    }
    m->ns = (double)(fi_clock_now() - began) / (double)n;
    m->pushed = n;
    m->popped = popped;
}

static void runs(fi_deque *d, long n, case_result *m)
{
    long popped = 0;
    int64_t began = fi_clock_now();
    for (long i = 0; i < n; i += CASE_RUN) {
        for (int k = 0; k < CASE_RUN; k++)
            fi_deque_push(d, d);
        for (int k = 0; k < CASE_RUN; k++)
            popped += fi_deque_pop(d) != NULL;
        m->pushed += CASE_RUN;
    }
    m->ns = (double)(fi_clock_now() - began) / (double)m->pushed;
    m->popped = popped;
}

static long fill(fi_deque *d)
{
    long n = 0;
    while (fi_deque_size(d) < CASE_CAPACITY && fi_deque_push(d, d) == 0)
        n++;
    return n;
}

/* The thief is the only thread: the cost of the steal itself. */
static void steals(fi_deque *d, long n, case_result *m)
{
    void *out[MAX_OUT];
    int64_t spent = 0;
    while (m->stolen < n) {
        m->pushed += fill(d);
        int64_t began = fi_clock_now();
        for (int got; (got = fi_deque_steal(d, out, MAX_OUT)) > 0;)
            m->stolen += got;
        spent += fi_clock_now() - began;
    }
    m->ns = (double)spent / (double)m->stolen;
}

case_result case_run(const fi_deque_ops *kind, deque_case what, int thieves_count, long n)
{
    static void (*const run[])(fi_deque * d, long n, case_result *m) = {pairs, runs, steals};
    fi_deque_config config = {.capacity = CASE_CAPACITY};
    fi_deque *d;
    thieves t;
    case_result m = {0};
    if (fi_deque_new(kind, &config, &d) < 0)
        abort();
    thieves_start(&t, d, thieves_count);
    run[what](d, n, &m);
    thieves_stop(&t);
    m.stolen += atomic_load(&t.stolen);
    m.left = (long)fi_deque_size(d);
    fi_deque_free(d);
    return m;
}
