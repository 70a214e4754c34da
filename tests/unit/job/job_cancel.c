/* Cancelling a group or a job interrupts the waits of its work, at any depth, and no other
 * waits. */
#include "unit/job/jobs.h"
#include "unit/job/sleepers.h"

#include "sched/worker.h"

#include <filch/algo.h>
#include <filch/fiber.h>
#include <filch/sync.h>
#include <filch/task.h>

static void sleep_in_piece(void *arg)
{
    sleep_long(arg);
}

/* ---- members ---- */

static void members(void)
{
    filch_group g = FILCH_GROUP_INIT;

    for (int after = 0; after <= 20; after += 10) {
        reset();
        for (int i = 0; i < 10; i++) {
            filch_group_run(&g, sleep_in_piece, NULL);
            filch_group_run_fallible(&g, sleep_long, NULL);
        }
        await_started(after);
        filch_group_cancel(&g);
        CHECK(filch_group_is_cancelled(&g));
        CHECK_INT(filch_group_wait(&g), -ECANCELED);
        CHECK_INT(atomic_load(&cancelled), atomic_load(&started));
        CHECK(!filch_group_is_cancelled(&g));
    }
    CHECK_INT(filch_group_wait(&g), 0);
}

static int ask_and_sleep(void *arg)
{
    filch_group *g = arg;

    while (!filch_group_is_cancelled(g))
        filch_yield();
    return filch_fiber_is_cancelled() && filch_sleep(LONG) == -ECANCELED &&
                   filch_sleep(LONG) == -ECANCELED
               ? 0
               : -EIO;
}

/* A member that begins to wait after the cancellation. */
static void later_waits(void)
{
    filch_group g = FILCH_GROUP_INIT;

    filch_group_run_fallible(&g, ask_and_sleep, &g);
    filch_group_run_fallible(&g, sleep_long, NULL);
    await_started(1);
    reset();
    filch_group_cancel(&g);
    CHECK_INT(filch_group_wait(&g), -ECANCELED);
}

static void short_sleep(void *ended)
{
    if (filch_sleep(FILCH_MS(1)) == 0)
        atomic_fetch_add((atomic_int *)ended, 1);
}

/* Their fibers are used again, and are not cancelled any more. */
static void other_work(void)
{
    filch_group g = FILCH_GROUP_INIT, other = FILCH_GROUP_INIT;
    atomic_int ended = 0;

    reset();
    for (int i = 0; i < 10; i++) {
        filch_group_run(&other, short_sleep, &ended);
        filch_group_run(&g, sleep_in_piece, NULL);
    }
    await_started(10);
    filch_group_cancel(&g);
    CHECK_INT(filch_group_wait(&g), -ECANCELED);
    CHECK_INT(filch_group_wait(&other), 0);
    for (int i = 0; i < 10; i++)
        filch_group_run(&g, short_sleep, &ended);
    CHECK_INT(filch_group_wait(&g), 0);
    CHECK_INT(atomic_load(&ended), 20);
}

static int fail_when_all_sleep(void *error)
{
    await_started(10);
    return *(int *)error;
}

static void error_interrupts(void)
{
    filch_group g = FILCH_GROUP_INIT;
    int error = -EPROTO;

    reset();
    for (int i = 0; i < 10; i++)
        filch_group_run_fallible(&g, sleep_long, NULL);
    filch_group_run_fallible(&g, fail_when_all_sleep, &error);
    CHECK_INT(filch_group_wait(&g), -EPROTO);
    CHECK_INT(atomic_load(&cancelled), 10);
}

/* ---- filch_fiber_uncancel ---- */

static int clean_up(void *arg)
{
    bool was, slept, is;

    (void)arg;
    sleep_long(NULL);
    was = filch_fiber_uncancel();
    is = filch_fiber_is_cancelled() || filch_fiber_uncancel();
    slept = filch_sleep(FILCH_MS(1)) == 0;
    return was && slept && !is ? 0 : -EIO;
}

static void uncancel(void)
{
    filch_group g = FILCH_GROUP_INIT;

    for (int round = 0; round < 2; round++) {
        reset();
        for (int i = 0; i < 10; i++)
            filch_group_run_fallible(&g, clean_up, NULL);
        await_started(10);
        filch_group_cancel(&g);
        filch_group_cancel(&g);
        CHECK_INT(filch_group_wait(&g), -ECANCELED);
        CHECK_INT(atomic_load(&cancelled), 10);
    }
}

/* The functions of filch_invoke are not dropped, and several run on one fiber.  Each ends its own
 * cancellation, and not that of the next one.  The caller stays cancelled. */
static void sleep_and_uncancel(void *caller)
{
    sleep_long(NULL);
    if (fi_fiber_self() != caller)
        filch_fiber_uncancel();
}

static int invoke_uncancelling(void *arg)
{
    (void)arg;
    filch_invoke_with(fi_fiber_self(), sleep_and_uncancel, sleep_and_uncancel, sleep_and_uncancel,
                      sleep_and_uncancel, sleep_and_uncancel, sleep_and_uncancel,
                      sleep_and_uncancel, sleep_and_uncancel);
    return 0;
}

static void uncancel_in_functions(void)
{
    filch_group g = FILCH_GROUP_INIT;

    reset();
    filch_group_run_fallible(&g, invoke_uncancelling, NULL);
    await_started(1);
    filch_group_cancel(&g);
    CHECK_INT(filch_group_wait(&g), -ECANCELED);
    CHECK_INT(atomic_load(&cancelled), 8);
}

/* ---- stolen tasks ---- */

enum { TASKS = 8 };

FILCH_TASK(int, sleeper, int, ignored)
{
    (void)ignored;
    return sleep_long(NULL);
}

FILCH_TASK(int, sleepers)
{
    int n = 0;

    for (int i = 0; i < TASKS; i++)
        FILCH_SPAWN(sleeper, i);
    for (int i = 0; i < TASKS; i++)
        n += FILCH_SYNC(sleeper) == -ECANCELED;
    return n;
}

static int run_sleepers(void *arg)
{
    (void)arg;
    return FILCH_RUN(sleepers) == TASKS ? 0 : -EIO;
}

static void tasks(void)
{
    filch_group g = FILCH_GROUP_INIT;

    for (int after = 0; after < 3; after++) {
        reset();
        filch_group_run_fallible(&g, run_sleepers, NULL);
        filch_group_run_fallible(&g, run_sleepers, NULL);
        await_started(after);
        filch_group_cancel(&g);
        CHECK_INT(filch_group_wait(&g), -ECANCELED);
        CHECK_INT(atomic_load(&cancelled) % TASKS, 0);
    }
}

FILCH_TASK(int, uncancelling_sleeper, int, ignored)
{
    (void)ignored;
    if (sleep_long(NULL) == -ECANCELED)
        filch_fiber_uncancel();
    return filch_sleep(FILCH_MS(1));
}

FILCH_TASK(int, uncancelling_sleepers)
{
    int n = 0;

    FILCH_SPAWN(uncancelling_sleeper, 1);
    await_started(1);
    n = FILCH_SYNC(uncancelling_sleeper);
    return n == 0 && filch_sleep(FILCH_MS(1)) == 0 ? 0 : -EIO;
}

static int run_uncancelling_sleepers(void *arg)
{
    (void)arg;
    return FILCH_RUN(uncancelling_sleepers);
}

/* A task ends the cancellation for the member that has spawned it, which has not waited yet. */
static void uncancel_in_task(void)
{
    filch_group g = FILCH_GROUP_INIT;

    if (filch_worker_count() == 1)
        return; /* the task begins only when it is stolen */
    reset();
    filch_group_run_fallible(&g, run_uncancelling_sleepers, NULL);
    await_started(1);
    filch_group_cancel(&g);
    CHECK_INT(filch_group_wait(&g), -ECANCELED);
}

/* ---- trees of groups ---- */

static int nested(void *depth)
{
    filch_group g = FILCH_GROUP_INIT;
    int n = *(int *)depth - 1, e;

    if (n == 0)
        return sleep_long(NULL);
    filch_group_run_fallible(&g, nested, &n);
    e = filch_group_wait(&g);
    return e == -ECANCELED ? filch_sleep(LONG) : -EIO;
}

static void tree(void)
{
    filch_group g = FILCH_GROUP_INIT;
    int depth = 1000;

    reset();
    filch_group_run_fallible(&g, nested, &depth);
    await_started(1);
    filch_group_cancel(&g);
    CHECK_INT(filch_group_wait(&g), -ECANCELED);
    CHECK_INT(atomic_load(&cancelled), 1);
}

/* The waiting fiber may have been cancelled before it waits. */
static int wait_late(void *arg)
{
    filch_group g = FILCH_GROUP_INIT;

    (void)arg;
    sleep_long(NULL);
    filch_group_run_fallible(&g, sleep_long, NULL);
    return filch_group_wait_until(&g, filch_now() + LONG) == -ECANCELED ? 0 : -EIO;
}

static void waits_when_cancelled(void)
{
    filch_group g = FILCH_GROUP_INIT;

    reset();
    filch_group_run_fallible(&g, wait_late, NULL);
    await_started(1);
    filch_group_cancel(&g);
    CHECK_INT(filch_group_wait(&g), -ECANCELED);
}

/* ---- algorithms: all functions run, and their waits are interrupted ---- */

static void sleep_long_ctx(void *ctx)
{
    sleep_long(ctx);
}

static int invoke(void *arg)
{
    int none = 0;

    (void)arg;
    filch_invoke_with(&none, sleep_long_ctx, sleep_long_ctx, sleep_long_ctx);
    return 0;
}

static void invoked_functions(void)
{
    filch_group g = FILCH_GROUP_INIT;

    reset();
    filch_group_run_fallible(&g, invoke, NULL);
    await_started(1);
    filch_group_cancel(&g);
    CHECK_INT(filch_group_wait(&g), -ECANCELED);
    CHECK_INT(atomic_load(&started), 3);
    CHECK_INT(atomic_load(&cancelled), 3);
}

/* ---- jobs ---- */

static filch_job *submit(filch_job *j)
{
    CHECK_INT(filch_job_submit(j), 0);
    return j;
}

static void job_alone(void)
{
    for (int i = 0; i < 2; i++) {
        filch_job *j;
        reset();
        j = submit(filch_job_new_fallible(sleep_long, NULL));
        await_started(i);
        filch_job_cancel(j);
        CHECK_INT(filch_job_wait(j), -ECANCELED);
        CHECK_INT(atomic_load(&cancelled), atomic_load(&started));
    }
}

static void add_children(int depth);

static void sleep_with_children(void *depth)
{
    add_children((int)(intptr_t)depth - 1);
    sleep_long(NULL);
}

/* The function of a job at an odd depth ends before its children. */
static void end_before_children(void *depth)
{
    add_children((int)(intptr_t)depth - 1);
}

static void add_children(int depth)
{
    filch_job *self = filch_job_self();

    filch_group_run_fallible(filch_job_child_group(self), sleep_long, NULL);
    for (int i = 0; i < 2 && depth > 0; i++) {
        filch_job *child = filch_job_new(depth % 2 ? end_before_children : sleep_with_children,
                                         (void *)(intptr_t)depth);
        CHECK_INT(filch_job_set_parent(child, self), 0);
        submit(child);
    }
}

/* Of 31 jobs in 5 levels, 11 sleep.  Each has a child that sleeps. */
static void family(void)
{
    filch_job *j, *other;

    reset();
    other = submit(filch_job_new_fallible(sleep_long, NULL));
    j = submit(filch_job_new(sleep_with_children, (void *)(intptr_t)5));
    await_started(1 + 31 + 11);
    filch_job_cancel(j);
    CHECK_INT(filch_job_wait(j), -ECANCELED);
    CHECK_INT(atomic_load(&cancelled), 31 + 11);
    CHECK(!filch_job_is_cancelled(other));
    filch_job_cancel(other);
    CHECK_INT(filch_job_wait(other), -ECANCELED);
}

/* A job of a group, with children. */
static void jobs_of_group(void)
{
    filch_group g = FILCH_GROUP_INIT;

    reset();
    for (int i = 0; i < 3; i++) {
        filch_job *j = filch_job_new(sleep_with_children, (void *)(intptr_t)2);
        CHECK_INT(filch_job_set_group(j, &g), 0);
        submit(j);
    }
    await_started(12);
    filch_group_cancel(&g);
    CHECK_INT(filch_group_wait(&g), -ECANCELED);
    CHECK_INT(atomic_load(&cancelled), atomic_load(&started));
}

static atomic_int ran_late;

static void count_late(void *arg)
{
    (void)arg;
    atomic_fetch_add(&ran_late, 1);
}

/* The result of the child comes first, and is not an error.  Then the job fails. */
static int add_late_child(void *group)
{
    filch_group *children = filch_job_child_group(filch_job_self());

    filch_group_run_fallible(children, sleep_long, NULL);
    while (!filch_group_is_cancelled(group) || atomic_load(&cancelled) == 0)
        filch_yield();
    CHECK(filch_group_is_cancelled(children));
    filch_group_run(children, count_late, NULL);
    for (int i = 0; i < 10; i++)
        filch_yield();
    return -EPROTO;
}

/* The group of a job is cancelled, and not the job. */
static void children_of_job_of_group(void)
{
    filch_group g = FILCH_GROUP_INIT;
    filch_job *j = filch_job_new_fallible(add_late_child, &g);

    reset();
    atomic_store(&ran_late, 0);
    CHECK_INT(filch_job_set_group(j, &g), 0);
    submit(j);
    await_started(1);
    filch_group_cancel(&g);
    CHECK_INT(filch_group_wait(&g), -EPROTO);
    CHECK_INT(atomic_load(&ran_late), 0);
}

/* The parent gets a group after its child has begun to wait. */
static void late_group(void)
{
    for (int cancel_first = 0; cancel_first < 2; cancel_first++) {
        filch_group g = FILCH_GROUP_INIT;
        filch_job *parent = filch_job_new(nothing, NULL);
        filch_job *child = filch_job_new_fallible(sleep_long, NULL);

        reset();
        CHECK_INT(filch_job_set_parent(child, parent), 0);
        submit(child);
        await_started(1);
        if (cancel_first)
            filch_group_cancel(&g);
        CHECK_INT(filch_job_set_group(parent, &g), 0);
        if (!cancel_first)
            filch_group_cancel(&g);
        submit(parent);
        CHECK_INT(filch_group_wait(&g), -ECANCELED);
        CHECK_INT(atomic_load(&cancelled), 1);
    }
}

static int wait_for_job(void *arg)
{
    filch_job *j = submit(filch_job_new_fallible(sleep_long, arg));

    return filch_job_wait(j) == -ECANCELED ? -ECANCELED : -EIO;
}

static void job_wait_passes_on(void)
{
    filch_group g = FILCH_GROUP_INIT;

    reset();
    filch_group_run_fallible(&g, wait_for_job, NULL);
    await_started(1);
    filch_group_cancel(&g);
    CHECK_INT(filch_group_wait(&g), -ECANCELED);
    CHECK_INT(atomic_load(&cancelled), 1);
}

/* ---- several threads ---- */

static void *cancel_from_thread(void *group)
{
    filch_group_cancel(group);
    return NULL;
}

/* The group ends while it is being cancelled, and its memory is used again. */
static void cancel_from_threads(void)
{
    for (int i = 0; i < 30; i++) {
        filch_group g = FILCH_GROUP_INIT;
        pthread_t t;

        reset();
        for (int k = 0; k < 100; k++)
            filch_group_run_fallible(&g, sleep_long, NULL);
        await_started(i);
        pthread_create(&t, NULL, cancel_from_thread, &g);
        CHECK_INT(filch_group_wait(&g), -ECANCELED);
        memset(&g, 0x5a, sizeof g);
        CHECK_INT(atomic_load(&cancelled), atomic_load(&started));
        pthread_join(t, NULL);
    }
}

/* The group gets its first member while it is being cancelled. */
static void cancel_before_first_member(void)
{
    for (int i = 0; i < 50; i++) {
        filch_group g = FILCH_GROUP_INIT;
        pthread_t t;

        reset();
        pthread_create(&t, NULL, cancel_from_thread, &g);
        filch_group_run_fallible(&g, sleep_long, NULL);
        pthread_join(t, NULL);
        CHECK_INT(filch_group_wait(&g), -ECANCELED);
        CHECK_INT(atomic_load(&cancelled), atomic_load(&started));
    }
}

WITH_WORKERS(members)
WITH_WORKERS(later_waits)
WITH_WORKERS(other_work)
WITH_WORKERS(error_interrupts)
WITH_WORKERS(uncancel)
WITH_WORKERS(uncancel_in_functions)
WITH_WORKERS(tasks)
WITH_WORKERS(uncancel_in_task)
WITH_WORKERS(tree)
WITH_WORKERS(waits_when_cancelled)
WITH_WORKERS(invoked_functions)
WITH_WORKERS(job_alone)
WITH_WORKERS(family)
WITH_WORKERS(jobs_of_group)
WITH_WORKERS(children_of_job_of_group)
WITH_WORKERS(late_group)
WITH_WORKERS(job_wait_passes_on)
WITH_WORKERS(cancel_from_threads)
WITH_WORKERS(cancel_before_first_member)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_EACH(test_members, test_later_waits, test_other_work, test_error_interrupts,
                   test_uncancel, test_uncancel_in_functions, test_tasks, test_uncancel_in_task,
                   test_tree, test_waits_when_cancelled, test_invoked_functions),
        CHECK_EACH(test_job_alone, test_family, test_jobs_of_group, test_children_of_job_of_group,
                   test_late_group, test_job_wait_passes_on, test_cancel_from_threads,
                   test_cancel_before_first_member)};

    return CHECK_RUN(tests);
}
