/* What the tests of channels share: somebody who calls something, on a fiber or in a thread, and how to see that it waits.
 */
#ifndef TESTS_UNIT_CHAN_ACTORS_H
#define TESTS_UNIT_CHAN_ACTORS_H

#include "unit/task/workers.h"

#include "chan/chan.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

typedef struct actor actor;
struct actor {
    void (*play)(actor *a);
    filch_chan *chan;
    filch_case *cases;
    size_t n;
    int64_t deadline;
    long item;
    int result;
    filch_fiber *fiber;
    pthread_t thread;
};

static bool actors_are_threads;

static inline void *actor_main(void *arg)
{
    actor *a = arg;

    a->play(a);
    return NULL;
}

static inline void actor_start(actor *a)
{
    if (a->deadline == 0)
        a->deadline = INT64_MAX;
    if (actors_are_threads)
        CHECK_INT(pthread_create(&a->thread, NULL, actor_main, a), 0);
    else
        CHECK((a->fiber = filch_fiber_start(actor_main, a)) != NULL);
}

static inline int actor_end(actor *a)
{
    if (actors_are_threads)
        pthread_join(a->thread, NULL);
    else
        CHECK_INT(filch_fiber_join(a->fiber, NULL), 0);
    return a->result;
}

static inline void do_send(actor *a)
{
    a->result = filch_chan_send_until(a->chan, &a->item, a->deadline);
}

static inline void do_recv(actor *a)
{
    a->result = filch_chan_recv_until(a->chan, &a->item, a->deadline);
}

static inline void do_select(actor *a)
{
    a->result = filch_select_until(a->cases, a->n, a->deadline);
}

/* ---- who waits ---- */

static inline size_t in_line(filch_chan *c, const fi_line *line)
{
    size_t n = 0;

    fi_hold(&c->lock);
    for (const fi_wait *w = line->first; w; w = w->next == line->first ? NULL : w->next)
        n++;
    fi_let_go(&c->lock);
    return n;
}

static inline void until_receivers(filch_chan *c, size_t n)
{
    while (in_line(c, &c->receivers) != n)
        filch_yield();
}

static inline void until_senders(filch_chan *c, size_t n)
{
    while (in_line(c, &c->senders) != n)
        filch_yield();
}

static inline void check_nobody_waits(filch_chan *c)
{
    CHECK_INT(in_line(c, &c->receivers), 0);
    CHECK_INT(in_line(c, &c->senders), 0);
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

/* test_NAME runs NAME with 1, 2, 4 and 8 workers, with actors that are fibers and with actors that are threads. */
#define WITH_ACTORS(name)                                                                          \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        for (int threads = 0; threads < 2; threads++) {                                            \
            actors_are_threads = threads;                                                          \
            workers_each(NULL, name);                                                              \
        }                                                                                          \
    }

#endif
