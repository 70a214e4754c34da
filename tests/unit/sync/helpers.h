/* Helpers for the tests of sync objects: the number of waiters, and one test body for threads,
 * fibers and tasks.
 *
 * A failed check must not longjmp out of a fiber.  So a body returns the line of the failed check,
 * or 0. */
#ifndef TESTS_UNIT_SYNC_HELPERS_H
#define TESTS_UNIT_SYNC_HELPERS_H

#include "unit/task/helpers.h"
#include "wait/waitq.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#define NEVER INT64_MAX
#define SOON  (filch_now() + 1000000)

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return __LINE__;                                                                       \
    } while (0)

/* Number of waiters in a queue.  Each object starts with a lock and a queue; a rwlock has one for
 * readers and one for writers. */
static inline unsigned n_waiting_in(void *object, int queue)
{
    fi_biased_lock *lock = object;
    fi_waitq *waitq = (fi_waitq *)(void *)(lock + 1) + queue;
    const fi_waiter *first, *w;
    unsigned n = 0;

    fi_obj_lock(lock);
    w = first = waitq->first;
    for (; w; w = w->next == first ? NULL : w->next)
        n++;
    fi_obj_unlock(lock);
    return n;
}

static inline unsigned n_waiting(void *object)
{
    return n_waiting_in(object, 0);
}

static inline void await_waiting_in(void *object, int queue, unsigned n)
{
    while (n_waiting_in(object, queue) != n)
        filch_yield();
}

static inline void await_waiting(void *object, unsigned n)
{
    await_waiting_in(object, 0, n);
}

/* ---- a call in its own fiber or thread ---- */

typedef struct async_call {
    int (*call)(void *arg);
    void *arg;
    filch_fiber *fiber;
    pthread_t thread;
    int result;
    atomic_int is_over;
} async_call;

static inline void *async_call_main(void *arg)
{
    async_call *p = arg;

    p->result = p->call(p->arg);
    atomic_store(&p->is_over, 1);
    return NULL;
}

static inline void async_call_start(async_call *p, int (*call)(void *arg), void *arg)
{
    p->call = call;
    p->arg = arg;
    atomic_store(&p->is_over, 0);
    p->fiber = filch_fiber_start(async_call_main, p);
    if (!p->fiber)
        abort();
}

static inline void async_call_start_thread(async_call *p, int (*call)(void *arg), void *arg)
{
    p->call = call;
    p->arg = arg;
    p->fiber = NULL;
    atomic_store(&p->is_over, 0);
    if (pthread_create(&p->thread, NULL, async_call_main, p) != 0)
        abort();
}

/* Returns: the call's result.  A thread may wait for a fiber that needs this worker, so this does
 * not block the worker. */
static inline int async_call_join(async_call *p)
{
    if (p->fiber) {
        filch_fiber_join(p->fiber, NULL);
    } else {
        while (!atomic_load(&p->is_over))
            filch_yield();
        pthread_join(p->thread, NULL);
    }
    return p->result;
}

/* ---- one body everywhere ---- */

typedef int (*test_body)(void);

static inline int call_body(void *arg)
{
    return (*(test_body *)arg)();
}

FILCH_TASK(int, body_task, test_body, body)
{
    return body();
}
FILCH_TASK(int, body_twice, test_body, body)
{
    FILCH_SPAWN(body_task, body);
    return FILCH_SYNC(body_task);
}

/* Run the body in this thread, in a fiber, and in a task. */
static inline void everywhere(test_body body)
{
    async_call p;

    CHECK_INT(body(), 0);
    async_call_start(&p, call_body, &body);
    CHECK_INT(async_call_join(&p), 0);
    CHECK_INT(FILCH_RUN(body_twice, body), 0);
}

/* test_NAME runs NAME everywhere, with 1, 2, 4 and 8 workers. */
#define EVERYWHERE(name)                                                                           \
    static void with_workers_##name(void)                                                          \
    {                                                                                              \
        everywhere(name);                                                                          \
    }                                                                                              \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        workers_each(NULL, with_workers_##name);                                                   \
    }

/* test_NAME runs NAME in a fiber on one worker.  No other fiber runs until it waits. */
#define ON_ONE_WORKER(name)                                                                        \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        filch_config c = {.workers = 1};                                                           \
        test_body body = name;                                                                     \
        async_call p;                                                                              \
        (void)state;                                                                               \
        if (chaos_enabled())                                                                       \
            return;                                                                                \
        CHECK_INT(filch_start(&c), 0);                                                             \
        async_call_start(&p, call_body, &body);                                                    \
        CHECK_INT(async_call_join(&p), 0);                                                         \
        CHECK_INT(filch_stop(), 0);                                                                \
    }

#endif
