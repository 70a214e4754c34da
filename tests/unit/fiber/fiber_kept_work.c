/* Work that its worker is expected to take itself.  No other worker is woken for it, and thieves
 * leave it alone for a while.  But if its worker does not take it, another one does. */
#include "unit/fiber/helpers.h"

#include <filch/algo.h>
#include <filch/job.h>
#include <filch/runtime.h>

static atomic_int ran;

static void *count_run(void *arg)
{
    atomic_fetch_add(&ran, 1);
    return arg;
}

static void count_run_detached(void *arg)
{
    (void)arg;
    atomic_fetch_add(&ran, 1);
}

/* Does this worker take its work itself, and do all others sleep? */
static bool work_is_kept(void)
{
    fi_worker *w = fi_worker_self();
    fi_runtime *rt = w->runtime;

    return fi_worker_takes_unstarted(w) && fi_load_relaxed(&rt->idle.state) == rt->n_workers - 1;
}

/* The worker takes each fiber itself, because the starter waits for it. */
static int start_and_join_repeatedly(void)
{
    while (!work_is_kept())
        EXPECT(join(filch_fiber_start(count_run, NULL)) == 0);
    return 0;
}

/* Holds the worker: calls nothing that lets it look for work. */
static void spin_until_ran(int n)
{
    while (atomic_load(&ran) < n)
        ;
}

static int started_by_a_fiber_that_does_not_wait(void)
{
    filch_fiber *f;

    for (int round = 0; round < 3; round++) {
        EXPECT(start_and_join_repeatedly() == 0);
        atomic_store(&ran, 0);
        f = filch_fiber_start(count_run, NULL);
        spin_until_ran(1);
        EXPECT(join(f) == 0);
    }
    return 0;
}

static int group_of_a_fiber_that_does_not_wait(void)
{
    filch_group group = FILCH_GROUP_INIT;

    EXPECT(start_and_join_repeatedly() == 0);
    atomic_store(&ran, 0);
    EXPECT(filch_group_run(&group, count_run_detached, NULL) == 0);
    spin_until_ran(1);
    return filch_group_wait(&group);
}

/* ---- ready fibers before kept work ---- */

static filch_sem side[2];
static atomic_bool stopping;

static void *ping_pong(void *number)
{
    intptr_t own = (intptr_t)number;

    while (!atomic_load(&stopping)) {
        filch_sem_post(&side[!own]);
        filch_sem_wait(&side[own]);
    }
    filch_sem_post(&side[!own]);
    return NULL;
}

/* The worker always has a ready fiber, which it runs before the kept one. */
static int beside_ready_fibers(void)
{
    filch_fiber *f[3];

    atomic_store(&stopping, false);
    for (intptr_t i = 0; i < 2; i++)
        side[i] = (filch_sem){0};
    EXPECT(start_and_join_repeatedly() == 0);
    atomic_store(&ran, 0);
    f[2] = filch_fiber_start(count_run, NULL);
    for (intptr_t i = 0; i < 2; i++)
        f[i] = filch_fiber_start(ping_pong, (void *)i);
    while (atomic_load(&ran) == 0)
        filch_yield();
    atomic_store(&stopping, true);
    return (int)(join(f[0]) | join(f[1]) | join(f[2]));
}

/* ---- tasks beside kept work ---- */

static atomic_int n_elsewhere;

static void count_elsewhere(size_t lo, size_t hi, void *worker)
{
    if (filch_worker_index() != *(int *)worker)
        atomic_fetch_add(&n_elsewhere, (int)(hi - lo));
}

/* The kept fiber is in the deque, where a hungry worker would find published tasks.  Loops go on
 * until another worker has had a part of one. */
static int loop_beside_kept_work(void)
{
    int here;
    filch_fiber *f;

    EXPECT(start_and_join_repeatedly() == 0);
    atomic_store(&n_elsewhere, 0);
    here = filch_worker_index();
    f = filch_fiber_start(count_run, NULL);
    while (atomic_load(&n_elsewhere) == 0)
        filch_for(0, 1000, 1, count_elsewhere, &here);
    return (int)join(f);
}

/* ---- with 2 workers and more ---- */

static void with_workers(test_body body)
{
    for (unsigned workers = 2; workers <= 8; workers *= 2) {
        filch_config c = {.workers = workers};
        async_call p;
        CHECK_INT(filch_start(&c), 0);
        async_call_start(&p, call_body, &body);
        CHECK_INT(async_call_join(&p), 0);
        CHECK_INT(filch_stop(), 0);
    }
}

static void test_started(void **state)
{
    (void)state;
    with_workers(started_by_a_fiber_that_does_not_wait);
}

static void test_group(void **state)
{
    (void)state;
    with_workers(group_of_a_fiber_that_does_not_wait);
}

static void test_ready(void **state)
{
    (void)state;
    with_workers(beside_ready_fibers);
}

static void test_loop(void **state)
{
    (void)state;
    with_workers(loop_beside_kept_work);
}

CHECK_MAIN(test_started, test_group, test_ready, test_loop)
