/* Work that its worker is expected to take itself.  No other worker is woken for it, and thieves
 * leave it alone for a while.  But if its worker does not take it, another one does. */
#include "unit/fiber/helpers.h"

#include <filch/algo.h>
#include <filch/job.h>

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

/* ---- tasks beside kept work ---- */

static void do_nothing(size_t lo, size_t hi, void *ctx)
{
    (void)lo;
    (void)hi;
    (void)ctx;
}

/* The kept fiber is in the deque, where a hungry worker looks for published tasks.  The loop must
 * offer it to that worker. */
static int loop_beside_kept_work(void)
{
    fi_worker *here;
    filch_fiber *f;

    EXPECT(start_and_join_repeatedly() == 0);
    here = fi_worker_self();
    f = filch_fiber_start(count_run, NULL);
    filch_for(0, 1000, 1, do_nothing, NULL);
    EXPECT(!fi_worker_takes_unstarted(here));
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

static void test_loop(void **state)
{
    (void)state;
    if (chaos_enabled()) /* its worker takes the fiber in an injected yield */
        return;
    with_workers(loop_beside_kept_work);
}

CHECK_MAIN(test_started, test_group, test_loop)
