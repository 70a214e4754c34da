/* The timers of a worker that does not look at them fire on another worker. */
#include "unit/fiber/helpers.h"

static atomic_int calls, n_yielding, is_over;

static void *yield_until_over(void *arg)
{
    atomic_fetch_add(&n_yielding, 1);
    while (!atomic_load(&is_over))
        filch_yield();
    return arg;
}

static void set_called(void *arg)
{
    (void)arg;
    atomic_store(&calls, 1);
}

/* Holds its worker until the timer has called its function, which needs another worker. */
static void *hold_worker(void *arg)
{
    filch_timer t = FILCH_TIMER_INIT;

    if (filch_timer_start(&t, filch_now() + FILCH_US(100), set_called, NULL) != 0)
        return NULL;
    while (atomic_load(&calls) == 0)
        sched_yield();
    filch_timer_stop(&t);
    return arg;
}

/* n: fibers that keep the other worker from searching. */
static void fires_beside_held_worker(int n)
{
    filch_fiber *f[2], *holder;
    void *result;

    atomic_store(&calls, 0);
    atomic_store(&n_yielding, 0);
    atomic_store(&is_over, 0);
    CHECK_INT(filch_start(&(filch_config){.workers = 2}), 0);
    for (int i = 0; i < n; i++)
        CHECK((f[i] = filch_fiber_start(yield_until_over, &calls)) != NULL);
    await_count(&n_yielding, n);
    CHECK((holder = filch_fiber_start(hold_worker, &calls)) != NULL);
    CHECK_INT(filch_fiber_join(holder, &result), 0);
    CHECK(result == &calls);
    atomic_store(&is_over, 1);
    for (int i = 0; i < n; i++)
        CHECK_INT(filch_fiber_join(f[i], &result), 0);
    CHECK_INT(filch_stop(), 0);
}

static void test_fires_beside_held_worker(void **state)
{
    (void)state;
    for (int i = 0; i < SCALED(20); i++) {
        fires_beside_held_worker(0);
        fires_beside_held_worker(2);
    }
}

CHECK_MAIN(test_fires_beside_held_worker)
