/* Helpers for the tests of fibers. */
#ifndef TESTS_UNIT_FIBER_HELPERS_H
#define TESTS_UNIT_FIBER_HELPERS_H

#include "unit/sync/helpers.h"

#include "fiber/handle.h"

#include <filch/fiber.h>
#include <filch/time.h>

/* Returns its argument. */
static inline void *same(void *arg)
{
    return arg;
}

/* Waits for the semaphore and returns the result of the wait. */
static inline void *wait_for_sem(void *sem)
{
    return (void *)(intptr_t)filch_sem_wait(sem);
}

static inline bool has_ended(filch_fiber *f)
{
    fi_handle *h = fi_handle_of(f, __func__);
    bool ended;

    fi_obj_lock(&h->lock);
    ended = h->ended;
    fi_obj_unlock(&h->lock);
    return ended;
}

/* Wait for the end of the fiber without a join. */
static inline void await_end(filch_fiber *f)
{
    while (!has_ended(f))
        filch_yield();
}

/* Wait until a caller waits in filch_fiber_join. */
static inline void await_joiner(filch_fiber *f)
{
    fi_handle *h = fi_handle_of(f, __func__);
    bool waits = false;

    while (!waits) {
        filch_yield();
        fi_obj_lock(&h->lock);
        waits = h->joiner.first != NULL;
        fi_obj_unlock(&h->lock);
    }
}

static inline void await_parked(filch_fiber *f, const char *what)
{
    fi_handle *h = fi_handle_of(f, __func__);
    bool waits = false;

    while (!waits) {
        fi_wait_reason is = {0};
        filch_yield();
        fi_obj_lock(&h->lock);
        waits = h->fiber && fi_fiber_wait_reason(h->fiber, &is) && strcmp(is.kind, what) == 0;
        fi_obj_unlock(&h->lock);
    }
}

static inline void await_count(atomic_int *count, int n)
{
    while (atomic_load(count) != n)
        filch_yield();
}

/* The result of the fiber's body as a number; -1000 if the join failed. */
static inline intptr_t join(filch_fiber *f)
{
    void *result = NULL;

    return filch_fiber_join(f, &result) == 0 ? (intptr_t)result : -1000;
}

/* test_NAME runs NAME from this thread, with 1, 2, 4 and 8 workers. */
#define FROM_THREAD(name)                                                                          \
    static void with_workers_##name(void)                                                          \
    {                                                                                              \
        CHECK_INT(name(), 0);                                                                      \
    }                                                                                              \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        workers_each(NULL, with_workers_##name);                                                   \
    }

#endif
