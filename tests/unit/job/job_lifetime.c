/* How jobs end: errors, cancellation, ownership, and what filch_stop() waits for. */
#include "unit/job/jobs.h"

#include "job/job.h"

#include <unistd.h>

/* NULL, which filch_job_new returns when there is no memory. */
static void no_job(void **state)
{
    filch_job *j = filch_job_new(nothing, NULL);
    filch_group g = FILCH_GROUP_INIT;

    (void)state;
    CHECK_INT(filch_job_after(j, NULL), -EINVAL);
    CHECK_INT(filch_job_after(NULL, j), -EINVAL);
    CHECK_INT(filch_job_then(j, NULL), -EINVAL);
    CHECK_INT(filch_job_set_parent(NULL, j), -EINVAL);
    CHECK_INT(filch_job_set_parent(j, NULL), -EINVAL);
    CHECK_INT(filch_job_set_group(NULL, &g), -EINVAL);
    CHECK_INT(filch_job_submit(NULL), -EINVAL);
    CHECK_INT(filch_job_wait(NULL), -EINVAL);
    CHECK(filch_job_is_done(NULL) && !filch_job_is_cancelled(NULL) && !filch_job_child_group(NULL));
    filch_job_release(NULL), filch_job_cancel(NULL);
    filch_job_set_name(NULL, "none"), filch_job_set_priority(NULL, FILCH_PRIORITY_LOW),
        filch_job_set_pump(NULL, NULL);
    CHECK_INT(filch_job_submit(j), 0);
    CHECK_INT(filch_job_wait(j), 0);
    CHECK_INT(filch_stop(), 0);
}

/* ---- errors ---- */

static void errors_reach_successors(void)
{
    int error = -EIO, when = 0, other_when = 0;
    filch_job *bad = filch_job_new_fallible(end_with, &error), *after = filch_job_new(stamp, &when),
              *last = filch_job_new(stamp, &when), *other = filch_job_new(stamp, &other_when);

    filch_job_after(after, bad);
    filch_job_after(last, after);
    filch_job_submit(bad), filch_job_submit(after), filch_job_submit(last), filch_job_submit(other);
    CHECK_INT(filch_job_wait(last), -EIO);
    CHECK_INT(filch_job_wait(after), -EIO);
    CHECK_INT(when, 0);
    CHECK_INT(filch_job_wait(other), 0);
    CHECK(other_when > 0);
    after = filch_job_new(stamp, &when);
    CHECK_INT(filch_job_then(bad, after), 0); /* the dependency has failed before */
    CHECK_INT(filch_job_wait(after), -EIO);
    CHECK_INT(when, 0);
    CHECK_INT(filch_job_wait(bad), -EIO);
}

/* An error of a child reaches its parent, and the group or the parent of that. */
static void errors_reach_parents_and_groups(void)
{
    filch_group g = FILCH_GROUP_INIT;
    int error = -EPERM;
    filch_job *root = filch_job_new(nothing, NULL);

    for (int in_group = 0; in_group < 2; in_group++) {
        filch_job *parent = filch_job_new(nothing, NULL),
                  *child = filch_job_new_fallible(end_with, &error);
        CHECK_INT(in_group ? filch_job_set_group(parent, &g) : filch_job_set_parent(parent, root),
                  0);
        filch_job_set_parent(child, parent);
        filch_job_submit(parent);
        filch_job_submit(child);
    }
    filch_job_submit(root);
    CHECK_INT(filch_job_wait(root), -EPERM);
    CHECK_INT(filch_group_wait(&g), -EPERM);
    CHECK_INT(filch_group_wait(&g), 0);
}

/* ---- cancellation ---- */

static void cancelled_before(void)
{
    int when = 0;
    filch_job *first = filch_job_new(nothing, NULL), *j = filch_job_new(stamp, &when),
              *child = filch_job_new(stamp, &when), *last = filch_job_new(stamp, &when);

    filch_job_after(j, first);
    filch_job_set_parent(child, j);
    filch_job_after(child, first);
    filch_job_after(last, j);
    filch_job_submit(j), filch_job_submit(last);
    filch_job_cancel(j);
    CHECK(filch_job_is_cancelled(j));
    CHECK(filch_job_is_cancelled(child));
    CHECK(!filch_job_is_cancelled(first));
    filch_job_submit(child), filch_job_submit(first);
    CHECK_INT(filch_job_wait(first), 0);
    CHECK_INT(filch_job_wait(last), -ECANCELED);
    CHECK_INT(filch_job_wait(j), -ECANCELED);
    CHECK_INT(when, 0);
}

static void cancelled_with_group(void)
{
    filch_group g = FILCH_GROUP_INIT;
    int when = 0;
    filch_job *first = filch_job_new(nothing, NULL);

    for (int i = 0; i < 10; i++) {
        filch_job *j = filch_job_new(stamp, &when);
        filch_job_after(j, first);
        filch_job_set_group(j, &g);
        filch_job_submit(j);
    }
    filch_group_cancel(&g);
    filch_job_submit(first);
    CHECK_INT(filch_group_wait(&g), -ECANCELED);
    CHECK_INT(filch_group_dropped(&g), 10);
    CHECK_INT(when, 0);
    CHECK_INT(filch_job_wait(first), 0);
}

static atomic_int grandchildren;

static void count_grandchild(void *arg)
{
    (void)arg;
    atomic_fetch_add(&grandchildren, 1);
}

/* A running child that checks for cancellation passes it on to its own children. */
static void check_and_start_child(void *parent)
{
    filch_job *self = filch_job_self();

    filch_job_cancel(parent);
    CHECK(filch_job_is_cancelled(self));
    for (int i = 0; i < 10; i++)
        filch_group_run(filch_job_child_group(self), count_grandchild, NULL);
}

static void cancel_is_passed_on(void)
{
    filch_job *parent = filch_job_new(nothing, NULL),
              *child = filch_job_new(check_and_start_child, parent);

    atomic_store(&grandchildren, 0);
    filch_job_set_parent(child, parent);
    filch_job_submit(parent), filch_job_submit(child);
    CHECK_INT(filch_job_wait(parent), -ECANCELED);
    CHECK_INT(atomic_load(&grandchildren), 0);
}

static void cancelled_when_done(void)
{
    filch_job *j = filch_job_new(nothing, NULL);

    filch_job_submit(j);
    while (!filch_job_is_done(j))
        continue;
    filch_job_cancel(j);
    CHECK_INT(filch_job_wait(j), 0);
}

/* ---- ownership ---- */

/* The user waits for each job, or puts them all into a group and waits for that. */
static void no_memory_is_kept(void)
{
    filch_group g = FILCH_GROUP_INIT;
    size_t bytes = 0;

    for (int i = 0; i < SCALED(20000); i++) {
        filch_job *a = filch_job_new(nothing, NULL), *b = filch_job_new(nothing, NULL),
                  *c = filch_job_new(nothing, NULL);
        filch_job_after(b, a);
        filch_job_after(c, b);
        filch_job_after(c, a);
        if (i % 2)
            filch_job_set_group(a, &g), filch_job_set_group(b, &g), filch_job_set_group(c, &g);
        filch_job_submit(a), filch_job_submit(b), filch_job_submit(c);
        if (i % 2)
            filch_group_wait(&g);
        else
            filch_job_wait(a), filch_job_wait(b), filch_job_wait(c);
        if (i == 1000)
            bytes = fi_mem_live().bytes;
        if (i > 1000)
            CHECK(fi_mem_live().bytes <= bytes + (1 << 20));
    }
}

/* Each job depends on the previous one, without end.  The memory of those that are done is
 * reused. */
static void endless_chain(void)
{
    size_t bytes = 0;
    filch_job *last = filch_job_new(nothing, NULL);

    filch_job_submit(last);
    for (int i = 0; i < SCALED(20000); i++) {
        filch_job *j = filch_job_new(nothing, NULL);
        filch_job_then(last, j);
        filch_job_wait(last);
        last = j;
        if (i == 1000)
            bytes = fi_mem_live().bytes;
        if (i > 1000)
            CHECK(fi_mem_live().bytes <= bytes + (1 << 20));
    }
    filch_job_wait(last);
}

/* Jobs that depend on a released job still run. */
static void long_chain_of_released_jobs(void)
{
    filch_job *last = filch_job_new(nothing, NULL);

    filch_job_submit(last);
    for (int i = 0; i < SCALED(100000); i++) {
        filch_job *j = filch_job_new(nothing, NULL);
        filch_job_then(last, j);
        filch_job_release(last);
        last = j;
    }
    CHECK_INT(filch_job_wait(last), 0);
}

/* A job that is released before its submission cancels its successors.  Its parent does not wait
 * for it. */
static void never_submitted(void)
{
    filch_job *parent = filch_job_new(nothing, NULL), *j = filch_job_new(nothing, NULL),
              *after = filch_job_new(nothing, NULL);

    filch_job_set_parent(j, parent);
    filch_job_then(j, after);
    filch_job_submit(parent);
    filch_job_release(j);
    CHECK_INT(filch_job_wait(after), -ECANCELED);
    CHECK_INT(filch_job_wait(parent), 0);
}

static void deadlines(void)
{
    filch_job *first = filch_job_new(nothing, NULL), *j = filch_job_new(nothing, NULL);

    filch_job_then(first, j);
    CHECK_INT(filch_job_wait_until(j, 0), -ETIMEDOUT);
    CHECK_INT(filch_job_wait_until(j, filch_now() + FILCH_MS(1)), -ETIMEDOUT);
    filch_job_submit(first);
    CHECK_INT(filch_job_wait_until(j, filch_now() + FILCH_S(60)), 0);
    filch_job_release(first);
}

/* ---- a calling thread that returns its worker ---- */

static filch_job *awaited;
static filch_group of_awaited, behind;

static void wait_for_own_group(void *arg)
{
    (void)arg;
    filch_group_wait(&of_awaited);
}

/* Other workers run these, which wait behind the fiber of the calling thread. */
static void queue_fibers(void *arg)
{
    (void)arg;
    for (int i = 0; i < 100; i++)
        filch_group_run(&behind, wait_for_own_group, NULL);
    usleep(2000);
}

FILCH_VOID_TASK(submit_job)
{
    filch_job_submit(awaited);
    filch_group_wait(&of_awaited);
}

/* The end of a group makes several fibers ready: that of the calling thread, which then returns its
 * worker, and others, which must not be lost in that worker. */
static void returned_worker_keeps_nothing(void)
{
    for (int i = 0; i < 20; i++) {
        filch_group waiters = FILCH_GROUP_INIT;
        awaited = filch_job_new(queue_fibers, NULL);
        filch_job_set_group(awaited, &of_awaited);
        filch_group_run(&waiters, wait_for_own_group, NULL);
        usleep(300); /* only a sleeping worker is lent */
        FILCH_RUN(submit_job);
        CHECK_INT(filch_group_wait_until(&behind, filch_now() + FILCH_S(60)), 0);
        CHECK_INT(filch_group_wait_until(&waiters, filch_now() + FILCH_S(60)), 0);
    }
}

/* ---- what stop waits for ---- */

static atomic_int left;

static void continue_after_park(void *arg)
{
    filch_group *g = arg;

    if (atomic_fetch_sub(&left, 1) > 1)
        filch_group_run(g, continue_after_park, g);
}

static void park_on_it(void *group)
{
    filch_group_wait(group);
    atomic_fetch_add(&ticks, 1);
}

/* No thread waits for these groups. */
static void stop_waits(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= 4; n *= 2)
        for (int i = 0; i < 30; i++) {
            filch_config c = {.workers = n};
            filch_group g = FILCH_GROUP_INIT, waiters = FILCH_GROUP_INIT;
            CHECK_INT(filch_start(&c), 0);
            atomic_store(&ticks, 0);
            atomic_store(&left, 1000);
            filch_group_run(&g, continue_after_park, &g);
            filch_group_run(&waiters, park_on_it, &g);
            CHECK_INT(filch_stop(), 0);
            CHECK_INT(atomic_load(&left), 0);
            CHECK_INT(atomic_load(&ticks), 1);
        }
}

static void *wait_for_job(void *job)
{
    CHECK_INT(filch_job_wait(job), 0);
    return NULL;
}

static bool has_waiter(filch_job *job)
{
    return fi_pending_has_waiters(&fi_job_of(job, __func__)->self_group.pending);
}

/* A thread that waits for a job keeps the runtime until it has dropped its reference. */
static void stop_against_wait(void **state)
{
    (void)state;
    for (int i = 0; i < SCALED(300); i++) {
        filch_job *first = filch_job_new(nothing, NULL), *j = filch_job_new(nothing, NULL);
        pthread_t thread;
        filch_job_then(first, j);
        CHECK_INT(pthread_create(&thread, NULL, wait_for_job, j), 0);
        while (!has_waiter(j))
            continue;
        filch_job_submit(first);
        filch_job_release(first);
        CHECK_INT(filch_stop(), 0);
        pthread_join(thread, NULL);
    }
}

static void *run_and_return(void *group)
{
    for (int i = 0; i < 100; i++)
        filch_group_run(group, nothing, NULL);
    return NULL;
}

/* Some calls come during the stop, and start the runtime again. */
static void stop_against_run(void **state)
{
    (void)state;
    for (int i = 0; i < SCALED(100); i++) {
        filch_group g = FILCH_GROUP_INIT;
        pthread_t thread;
        CHECK_INT(pthread_create(&thread, NULL, run_and_return, &g), 0);
        for (int k = 0; k < 3; k++)
            CHECK_INT(filch_stop(), 0);
        pthread_join(thread, NULL);
        CHECK_INT(filch_group_wait(&g), 0);
    }
    CHECK_INT(filch_stop(), 0);
}

WITH_WORKERS(errors_reach_successors)
WITH_WORKERS(errors_reach_parents_and_groups)
WITH_WORKERS(cancelled_before)
WITH_WORKERS(cancelled_with_group)
WITH_WORKERS(cancel_is_passed_on)
WITH_WORKERS(cancelled_when_done)
WITH_WORKERS(no_memory_is_kept)
WITH_WORKERS(endless_chain)
WITH_WORKERS(long_chain_of_released_jobs)
WITH_WORKERS(never_submitted)
WITH_WORKERS(deadlines)
WITH_WORKERS(returned_worker_keeps_nothing)

CHECK_MAIN(no_job, test_errors_reach_successors, test_errors_reach_parents_and_groups,
           test_cancelled_before, test_cancelled_with_group, test_cancelled_when_done,
           test_no_memory_is_kept, test_endless_chain, test_long_chain_of_released_jobs,
           test_deadlines, test_returned_worker_keeps_nothing, stop_waits, stop_against_run,
           stop_against_wait, test_never_submitted, test_cancel_is_passed_on)
