/* Helpers for the tests of channels: a caller on a fiber or in a thread, and the number of
 * waiters. */
#ifndef TESTS_UNIT_CHAN_HELPERS_H
#define TESTS_UNIT_CHAN_HELPERS_H

#include "unit/task/helpers.h"

#include "chan/chan.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

typedef struct caller caller;
struct caller {
    void (*call)(caller *a);
    filch_chan *chan;
    filch_case *cases;
    size_t n;
    int64_t deadline;
    long item;
    int result;
    filch_fiber *fiber;
    pthread_t thread;
};

static bool callers_are_threads;

static inline void *caller_main(void *arg)
{
    caller *a = arg;

    a->call(a);
    return NULL;
}

static inline void caller_start(caller *a)
{
    if (a->deadline == 0)
        a->deadline = INT64_MAX;
    if (callers_are_threads)
        CHECK_INT(pthread_create(&a->thread, NULL, caller_main, a), 0);
    else
        CHECK((a->fiber = filch_fiber_start(caller_main, a)) != NULL);
}

static inline int caller_join(caller *a)
{
    if (callers_are_threads)
        pthread_join(a->thread, NULL);
    else
        CHECK_INT(filch_fiber_join(a->fiber, NULL), 0);
    return a->result;
}

static inline void do_send(caller *a)
{
    a->result = filch_chan_send_until(a->chan, &a->item, a->deadline);
}

static inline void do_recv(caller *a)
{
    a->result = filch_chan_recv_until(a->chan, &a->item, a->deadline);
}

static inline void do_select(caller *a)
{
    a->result = filch_select_until(a->cases, a->n, a->deadline);
}

/* ---- waiters ---- */

static inline size_t queue_length(filch_chan *c, const fi_waitq *line)
{
    size_t n = 0;

    fi_obj_lock(&c->lock);
    for (const fi_waiter *w = line->first; w; w = w->next == line->first ? NULL : w->next)
        n++;
    fi_obj_unlock(&c->lock);
    return n;
}

static inline void await_receivers(filch_chan *c, size_t n)
{
    while (queue_length(c, &c->receivers) != n)
        filch_yield();
}

static inline void await_senders(filch_chan *c, size_t n)
{
    while (queue_length(c, &c->senders) != n)
        filch_yield();
}

static inline void check_no_waiters(filch_chan *c)
{
    CHECK_INT(queue_length(c, &c->receivers), 0);
    CHECK_INT(queue_length(c, &c->senders), 0);
}

static inline filch_chan *chan_of_longs(size_t capacity)
{
    filch_chan *c = filch_chan_new(sizeof(long), capacity);

    CHECK(c != NULL);
    return c;
}

static inline long receive_one(filch_chan *c)
{
    long item = -1;

    CHECK_INT(filch_chan_recv(c, &item), 0);
    return item;
}

static inline void send_one(filch_chan *c, long item)
{
    CHECK_INT(filch_chan_send(c, &item), 0);
}

/* test_NAME runs NAME with 1, 2, 4 and 8 workers, with fibers and with threads as callers. */
#define WITH_CALLERS(name)                                                                         \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        for (int threads = 0; threads < 2; threads++) {                                            \
            callers_are_threads = threads;                                                         \
            workers_each(NULL, name);                                                              \
        }                                                                                          \
    }

#endif
