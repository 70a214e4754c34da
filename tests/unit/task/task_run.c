/* FILCH_RUN from threads and tasks, with and without a runtime; start and stop. */
#include "fib.h"
#include "unit/task/helpers.h"

#include <filch/fiber.h>
#include <filch/job.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

/* FILCH_RUN inside a task with open spawns is a plain call. */
FILCH_TASK(long, fib_by_run, int, n)
{
    long a, b;

    if (n < 2)
        return n;
    FILCH_SPAWN(fib_by_run, n - 1);
    b = FILCH_RUN(fib_by_run, n - 2);
    a = FILCH_SYNC(fib_by_run);
    return a + b;
}

FILCH_TASK_DECL(int, run_down, int, n);
FILCH_TASK_IMPL(int, run_down, int, n)
{
    int below;

    if (n == 0)
        return 0;
    FILCH_SPAWN(fib, 3);
    below = FILCH_RUN(run_down, n - 1);
    return below + (FILCH_SYNC(fib) == 2);
}

static void runs_nest(void)
{
    CHECK_INT(FILCH_RUN(fib_by_run, 16), 987);
    CHECK_INT(FILCH_RUN(run_down, 20), 20);
    CHECK_INT(FILCH_RUN(fib, 16), 987);
}

static void runs_nest_deep(void)
{
    CHECK_INT(FILCH_RUN(run_down, 200), 200);
}

static void *run_often(void *wrong)
{
    for (int i = 0; i < SCALED(200); i++)
        if (FILCH_RUN(fib, i % 20) != FILCH_RUN(fib_by_run, i % 20))
            atomic_fetch_add((atomic_int *)wrong, 1);
    return NULL;
}

static void in_threads(unsigned n, void *(*body)(void *))
{
    atomic_int wrong = 0;
    pthread_t threads[16];

    for (unsigned i = 0; i < n; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, body, &wrong), 0);
    for (unsigned i = 0; i < n; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
    CHECK_INT(atomic_load(&wrong), 0);
}

static void eight_threads_run(void)
{
    in_threads(8, run_often);
}

static void runs_inside_tasks(void **state)
{
    (void)state;
    workers_each(&(filch_config){.stack_size = (size_t)4 << 20}, runs_nest);
}

static void deep_runs_inside_tasks(void **state)
{
    (void)state;
    workers_each(&(filch_config){.stack_size = (size_t)4 << 20}, runs_nest_deep);
}

static void runs_in_threads(void **state)
{
    (void)state;
    workers_each(NULL, eight_threads_run);
}

static void implicit_start(void **state)
{
    size_t before = fi_mem_live().blocks;

    (void)state;
    CHECK_INT(filch_worker_count(), 0);
    in_threads(8, run_often);
    CHECK(filch_worker_count() >= 1);
    CHECK_INT(filch_start(NULL), 1);
    CHECK_INT(filch_stop(), 1);
    CHECK_INT(filch_stop(), 0);
    CHECK_INT(filch_stop(), 0);
    CHECK_INT(fi_mem_live().blocks, before);
}

static void start_and_stop_a_thousand_times(void **state)
{
    size_t before = fi_mem_live().blocks;

    (void)state;
    for (int i = 0; i < SCALED(1000); i++) {
        filch_config c = {.workers = 1 + (unsigned)i % 8};

        CHECK_INT(filch_start(&c), 0);
        CHECK_INT(filch_start(&c), 1);
        CHECK_INT(filch_worker_count(), c.workers);
        if (i % 3 != 0)
            CHECK_INT(FILCH_RUN(fib, 10), 55);
        CHECK_INT(filch_stop(), 1);
        CHECK_INT(filch_worker_count(), c.workers);
        CHECK_INT(filch_stop(), 0);
        CHECK_INT(fi_mem_live().blocks, before);
    }
}

FILCH_TASK(int, from_a_task, int, stop)
{
    return stop ? filch_stop() : filch_start(NULL);
}

static void fiber_joins_and_releases(void **state)
{
    (void)state;
    CHECK_INT(FILCH_RUN(from_a_task, 1), -EDEADLK);
    CHECK_INT(FILCH_RUN(from_a_task, 0), 1);
    CHECK_INT(filch_stop(), 1);
    CHECK_INT(FILCH_RUN(from_a_task, 0), 1);
    CHECK_INT(FILCH_RUN(from_a_task, 1), 1);
    CHECK_INT(FILCH_RUN(from_a_task, 1), -EDEADLK);
    CHECK_INT(filch_stop(), 0);
    CHECK_INT(filch_worker_count(), 0);
}

/* The settings of the first start stay. */
static void later_settings_are_not_used(void **state)
{
    (void)state;
    CHECK_INT(filch_start(&(filch_config){.workers = 2}), 0);
    CHECK_INT(filch_start(&(filch_config){.workers = 3}), 1);
    CHECK_INT(filch_worker_count(), 2);
    CHECK_INT(filch_stop(), 1);
    CHECK_INT(filch_stop(), 0);
    CHECK_INT(filch_start(&(filch_config){.workers = 3}), 0);
    CHECK_INT(filch_worker_count(), 3);
    CHECK_INT(filch_stop(), 0);
}

static atomic_int begun, may_end, ended;

/* A fiber that starts while the runtime is stopped cannot join it. */
static void *join_late(void *arg)
{
    atomic_store(&begun, 1);
    while (filch_start(NULL) == 1)
        filch_stop();
    atomic_store(&ended, 1);
    return arg;
}

static void fiber_does_not_join_a_stop(void **state)
{
    filch_fiber *f;

    (void)state;
    CHECK_INT(filch_start(&(filch_config){.workers = 2}), 0);
    CHECK((f = filch_fiber_start(join_late, NULL)) != NULL);
    while (!atomic_load(&begun))
        sched_yield();
    CHECK(filch_stop() >= 0);
    while (filch_worker_count() > 0) /* the fiber may have held it at the stop */
        filch_stop();
    CHECK_INT(atomic_load(&ended), 1);
    CHECK_INT(filch_fiber_join(f, NULL), 0);
    atomic_store(&begun, 0);
    atomic_store(&ended, 0);
}

/* A task that ends when the test sets a flag. */
FILCH_VOID_TASK(linger)
{
    atomic_store(&begun, 1);
    while (!atomic_load(&may_end))
        sched_yield();
    FILCH_SPAWN(fib, 10);
    FILCH_SYNC(fib);
    atomic_store(&ended, 1);
}

static void *run_linger(void *arg)
{
    FILCH_RUN(linger);
    return arg;
}

static void *stop_now(void *arg)
{
    int e = filch_stop();

    /* If the stop did not wait, this would not be set. */
    *(int *)arg = e == 0 && atomic_load(&ended);
    return NULL;
}

static void stop_waits_for_running_tasks(void **state)
{
    pthread_t runner, stopper;
    int waited = 0;

    (void)state;
    CHECK_INT(filch_start(&(filch_config){.workers = 2}), 0);
    CHECK_INT(pthread_create(&runner, NULL, run_linger, NULL), 0);
    while (!atomic_load(&begun))
        sched_yield();
    CHECK_INT(pthread_create(&stopper, NULL, stop_now, &waited), 0);
    CHECK_INT(filch_worker_count(), 2);
    atomic_store(&may_end, 1);
    CHECK_INT(pthread_join(stopper, NULL), 0);
    CHECK_INT(pthread_join(runner, NULL), 0);
    CHECK(waited);
}

static void *start_stop_run(void *wrong)
{
    for (int i = 0; i < SCALED(300); i++) {
        int e = i % 3 == 0 ? filch_start(NULL) : 0;

        if (e < 0 || FILCH_RUN(fib, 8) != 21)
            atomic_fetch_add((atomic_int *)wrong, 1);
        if (i % 5 == 0)
            filch_stop();
    }
    return NULL;
}

/* A library that uses the runtime between its own start and stop.  A job handle that it holds stays
 * valid. */
static void add_one(void *n)
{
    atomic_fetch_add((atomic_int *)n, 1);
}

static void *use_as_library(void *wrong)
{
    for (int i = 0; i < SCALED(300); i++) {
        int e = filch_start(NULL);
        atomic_int n = 0;
        filch_job *job = filch_job_new(add_one, &n);
        bool right = e >= 0 && job && filch_job_submit(job) == 0;

        right = right && FILCH_RUN(fib, 8) == 21 && filch_worker_count() > 0;
        right = right && filch_job_wait(job) == 0 && atomic_load(&n) == 1;
        if (!right || filch_stop() < 0)
            atomic_fetch_add((atomic_int *)wrong, 1);
    }
    return NULL;
}

static void libraries_do_not_disturb_each_other(void **state)
{
    size_t before = fi_mem_live().blocks;

    (void)state;
    in_threads(4, use_as_library);
    CHECK_INT(filch_worker_count(), 0);
    CHECK_INT(fi_mem_live().blocks, before);
}

static void threads_start_stop_and_run_at_once(void **state)
{
    size_t before = fi_mem_live().blocks;

    (void)state;
    in_threads(4, start_stop_run);
    while (filch_stop() > 0)
        ;
    CHECK_INT(fi_mem_live().blocks, before);
}

CHECK_MAIN(runs_inside_tasks, runs_in_threads, implicit_start, start_and_stop_a_thousand_times,
           fiber_joins_and_releases, later_settings_are_not_used, fiber_does_not_join_a_stop,
           libraries_do_not_disturb_each_other, stop_waits_for_running_tasks,
           threads_start_stop_and_run_at_once, deep_runs_inside_tasks)
