/* A thread that calls FILCH_RUN while a worker sleeps runs the task itself, and returns when that
 * task is done, also if other work is left. */
#include "fib.h"
#include "sched/runtime.h"
#include "unit/task/helpers.h"

#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

static void wait_for(atomic_int *flag)
{
    while (!atomic_load(flag))
        sched_yield();
}

FILCH_TASK(int, runs_in, pthread_t, caller)
{
    return pthread_equal(pthread_self(), caller);
}

/* At the start all workers sleep, so the first caller finds one. */
static void the_caller_runs_the_task(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 4; workers *= 2) {
        CHECK_INT(filch_start(&(filch_config){.workers = workers}), 0);
        CHECK_INT(FILCH_RUN(runs_in, pthread_self()), 1);
        CHECK_INT(filch_stop(), 0);
    }
}

/* One worker and one caller after the other: each returns the worker. */
static void the_caller_returns_the_worker(void **state)
{
    (void)state;
    CHECK_INT(filch_start(&(filch_config){.workers = 1}), 0);
    for (int i = 0; i < SCALED(10000); i++)
        CHECK_INT(FILCH_RUN(runs_in, pthread_self()), 1);
    CHECK_INT(filch_stop(), 0);
}

static void the_caller_does_not_run_if_disabled(void **state)
{
    (void)state;
    CHECK_INT(filch_start(&(filch_config){.workers = 2, .caller_runs = FILCH_CALLER_RUNS_NO}), 0);
    CHECK_INT(FILCH_RUN(runs_in, pthread_self()), 0);
    CHECK_INT(filch_stop(), 0);
    CHECK_INT(filch_start(&(filch_config){.workers = 2, .affinity = FILCH_AFFINITY_CPU}), 0);
    CHECK_INT(FILCH_RUN(runs_in, pthread_self()), 0);
    CHECK_INT(filch_stop(), 0);
}

/* ---- a caller with a task that waits while there is other work ---- */

static atomic_int root_waits, first_may_end, second_runs, first_returned;

FILCH_VOID_TASK(first_part)
{
    atomic_store(&root_waits, 1);
    wait_for(&first_may_end);
}

/* The spawned task must be stolen, because its spawner waits without a sync. */
FILCH_VOID_TASK(first_root)
{
    FILCH_SPAWN(first_part);
    while (!atomic_load(&root_waits)) {
        FILCH_SPAWN(fib, 5); /* a spawn checks for requests to publish */
        FILCH_SYNC(fib);
    }
    FILCH_SYNC(first_part);
}

FILCH_VOID_TASK(second_root)
{
    atomic_store(&second_runs, 1);
    wait_for(&first_returned);
}

static void *run_first(void *arg)
{
    FILCH_RUN(first_root);
    atomic_store(&first_returned, 1);
    return arg;
}

static void *run_second(void *arg)
{
    FILCH_RUN(second_root);
    return arg;
}

/* The second task ends when the first caller has returned.  If that caller ran it while it waited
 * for its own task, neither would ever end. */
static void the_caller_is_not_kept_by_another_task(void **state)
{
    pthread_t first, second;

    (void)state;
    CHECK_INT(filch_start(&(filch_config){.workers = 3}), 0);
    for (int i = 0; i < SCALED(300); i++) {
        atomic_store(&root_waits, 0);
        atomic_store(&first_may_end, 0);
        atomic_store(&second_runs, 0);
        atomic_store(&first_returned, 0);
        CHECK_INT(pthread_create(&first, NULL, run_first, NULL), 0);
        wait_for(&root_waits);
        CHECK_INT(pthread_create(&second, NULL, run_second, NULL), 0);
        wait_for(&second_runs);
        atomic_store(&first_may_end, 1);
        CHECK_INT(pthread_join(first, NULL), 0);
        CHECK_INT(pthread_join(second, NULL), 0);
    }
    CHECK_INT(filch_stop(), 0);
}

/* ---- state of the calling thread ---- */

FILCH_TASK(int, rounding)
{
    return fegetround();
}

static void *round_upward(void *arg)
{
    fesetround(FE_UPWARD);
    *(int *)arg = FILCH_RUN(rounding) == FE_TONEAREST && fegetround() == FE_UPWARD;
    return NULL;
}

/* Another thread uses the fiber of a caller later. */
static void the_caller_keeps_its_floating_point_modes(void **state)
{
    pthread_t other;
    int ok = 0;

    (void)state;
    CHECK_INT(filch_start(&(filch_config){.workers = 1}), 0);
    CHECK_INT(pthread_create(&other, NULL, round_upward, &ok), 0);
    CHECK_INT(pthread_join(other, NULL), 0);
    CHECK(ok);
    CHECK_INT(FILCH_RUN(rounding), FE_TONEAREST);
    CHECK_INT(filch_stop(), 0);
}

static atomic_int in_the_task, was_cancelled;

FILCH_VOID_TASK(is_cancelled)
{
    atomic_store(&in_the_task, 1);
    wait_for(&was_cancelled);
    pthread_testcancel();
}

/* A function of its own, as AddressSanitizer does not see the frames of a cancelled thread end. */
static __attribute__((noinline)) void call_run(void)
{
    FILCH_RUN(is_cancelled);
}

static void *run_cancelled(void *returned)
{
    call_run();
    *(int *)returned = 1;
    pthread_testcancel();
    return NULL;
}

/* The thread is cancelled after it has returned the worker. */
static void a_cancelled_caller_returns_the_worker(void **state)
{
    pthread_t thread;
    void *result;
    int returned = 0;

    (void)state;
    atomic_store(&in_the_task, 0);
    atomic_store(&was_cancelled, 0);
    CHECK_INT(filch_start(&(filch_config){.workers = 1}), 0);
    CHECK_INT(pthread_create(&thread, NULL, run_cancelled, &returned), 0);
    wait_for(&in_the_task);
    CHECK_INT(pthread_cancel(thread), 0);
    atomic_store(&was_cancelled, 1);
    CHECK_INT(pthread_join(thread, &result), 0);
    CHECK(returned && result == PTHREAD_CANCELED);
    CHECK_INT(FILCH_RUN(fib, 10), 55);
    CHECK_INT(filch_stop(), 0);
}

/* ---- many callers ---- */

static void *run_often(void *wrong)
{
    for (int i = 0; i < SCALED(3000); i++)
        if (FILCH_RUN(fib, i % 15) != FILCH_RUN(fib, i % 15))
            atomic_fetch_add((atomic_int *)wrong, 1);
    return NULL;
}

static void many_threads_run(void)
{
    enum { THREADS = 5 };
    pthread_t threads[THREADS];
    atomic_int wrong = 0;

    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, run_often, &wrong), 0);
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
    CHECK_INT(atomic_load(&wrong), 0);
}

static void many_callers(void **state)
{
    (void)state;
    workers_each(NULL, many_threads_run);
}

/* A root task starts on the caller's worker and, if it waits, ends on another one.  Workers that
 * end fibers must return them to workers that start fibers. */
static void fibers_do_not_accumulate(void **state)
{
    enum { WORKERS = 2, WARM = 64 + FI_STACK_CACHE_DEFAULT, AT_WORK = 64 };
    fi_stack_stats stacks;

    (void)state;
    CHECK_INT(filch_start(&(filch_config){.workers = WORKERS}), 0);
    for (int i = 0; i < SCALED(20000); i++)
        CHECK_INT(FILCH_RUN(fib, 18), 2584);
    fi_stack_pool_stats(&fi_runtime_lock_running()->stack_pool, &stacks);
    fi_runtime_unlock_running();
    CHECK(stacks.n_allocated <= WORKERS * WARM + AT_WORK);
    CHECK_INT(filch_stop(), 0);
}

/* ---- a caller that borrows the worker of the timer sleeper ---- */

static atomic_int in_time;

static void sleep_shortly(void *arg)
{
    filch_sleep(*(int64_t *)arg);
    atomic_store(&in_time, 1);
}

FILCH_VOID_TASK(wait_for_sleeper)
{
    wait_for(&in_time);
}

static void await_all_asleep(unsigned workers)
{
    fi_runtime *rt = fi_runtime_lock_running();

    while (fi_load_relaxed(&rt->idle.state) != workers)
        sched_yield();
    fi_runtime_unlock_running();
}

static void *run_waiting(void *arg)
{
    FILCH_RUN(wait_for_sleeper);
    return arg;
}

/* The callers do not search for work, so a sleeping worker must wake for the timer of the fiber. */
static void check_timer_beside(int callers)
{
    enum { WORKERS = 4 };
    int64_t a_little = FILCH_MS(20);
    pthread_t threads[WORKERS];

    atomic_store(&in_time, 0);
    CHECK_INT(filch_go(sleep_shortly, &a_little), 0);
    await_all_asleep(WORKERS);
    for (int i = 0; i < callers; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, run_waiting, NULL), 0);
    for (int i = 0; i < callers; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
}

static void timers_fire_beside_callers(void **state)
{
    (void)state;
    CHECK_INT(filch_start(&(filch_config){.workers = 4}), 0);
    for (int i = 0; i < 12; i++)
        check_timer_beside(1 + i % 3);
    CHECK_INT(filch_stop(), 0);
}

CHECK_MAIN(the_caller_runs_the_task, the_caller_returns_the_worker,
           the_caller_does_not_run_if_disabled, the_caller_is_not_kept_by_another_task,
           the_caller_keeps_its_floating_point_modes, a_cancelled_caller_returns_the_worker,
           many_callers, fibers_do_not_accumulate, timers_fire_beside_callers)
