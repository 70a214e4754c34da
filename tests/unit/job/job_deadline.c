/* The deadline of a group cancels it, and does nothing after the group has ended. */
#include "unit/job/jobs.h"
#include "unit/job/sleepers.h"

#include <filch/fiber.h>

#include <string.h>

static int fail_when_all_sleep(void *error)
{
    await_started(10);
    return *(int *)error;
}

static void deadline(void)
{
    filch_group g = FILCH_GROUP_INIT;
    int error = -EPROTO;

    reset();
    CHECK_INT(filch_group_set_deadline(&g, filch_now() + FILCH_MS(2)), 0);
    for (int i = 0; i < 10; i++)
        filch_group_run_fallible(&g, sleep_long, NULL);
    CHECK_INT(filch_group_wait(&g), -ETIMEDOUT);
    CHECK_INT(atomic_load(&cancelled), atomic_load(&started));
    filch_group_run_fallible(&g, end_with, &(int){0}); /* the deadline is gone */
    CHECK_INT(filch_group_wait(&g), 0);
    reset();
    CHECK_INT(filch_group_set_deadline(&g, filch_now() + LONG), 0);
    for (int i = 0; i < 10; i++)
        filch_group_run_fallible(&g, sleep_long, NULL);
    filch_group_run_fallible(&g, fail_when_all_sleep, &error);
    CHECK_INT(filch_group_wait(&g), -EPROTO);
}

static void deadline_changes(void)
{
    filch_group g = FILCH_GROUP_INIT;

    reset();
    CHECK_INT(filch_group_set_deadline(&g, filch_now() + LONG), 0);
    CHECK_INT(filch_group_set_deadline(&g, filch_now() + LONG / 2), 0);
    CHECK_INT(filch_group_set_deadline(&g, FILCH_FOREVER), 0);
    CHECK_INT(filch_group_set_deadline(&g, FILCH_FOREVER), 0);
    filch_group_run_fallible(&g, sleep_long, NULL);
    CHECK_INT(filch_group_wait_until(&g, filch_now() + FILCH_MS(1)), -ETIMEDOUT);
    CHECK(!filch_group_is_cancelled(&g));
    CHECK_INT(filch_group_set_deadline(&g, filch_now() + LONG), 0);
    CHECK_INT(filch_group_set_deadline(&g, 0), 0);
    CHECK_INT(filch_group_wait(&g), -ETIMEDOUT);
    CHECK_INT(filch_group_set_deadline(&g, filch_now() + LONG), 0);
    CHECK_INT(filch_group_wait(&g), 0);
}

/* The memory of a group is used again while its deadline passes. */
static void deadline_of_ended_groups(void)
{
    for (int i = 0; i < 300; i++) {
        filch_group g = FILCH_GROUP_INIT;
        int e;
        CHECK_INT(filch_group_set_deadline(&g, filch_now() + FILCH_US(i)), 0);
        filch_group_run(&g, nothing, NULL);
        filch_group_run(&g, nothing, NULL);
        e = filch_group_wait(&g);
        CHECK(e == 0 || e == -ETIMEDOUT);
        memset(&g, 0x5a, sizeof g);
    }
}

static void deadline_refused(void)
{
    filch_job *j = filch_job_new(nothing, NULL);

    CHECK_INT(filch_group_set_deadline(NULL, 0), -EINVAL);
    CHECK_INT(filch_group_set_deadline(filch_job_child_group(j), 0), -EINVAL);
    filch_job_release(j);
}

/* The runtime of the deadline has stopped. */
static void test_deadline_outlives_runtime(void **state)
{
    filch_group g = FILCH_GROUP_INIT;

    (void)state;
    CHECK_INT(filch_group_set_deadline(&g, filch_now() + LONG), 0);
    CHECK_INT(filch_stop(), 0);
    CHECK_INT(filch_group_wait(&g), 0);
    CHECK_INT(filch_group_set_deadline(&g, filch_now() + LONG), 0);
    CHECK_INT(filch_stop(), 0);
    CHECK_INT(filch_group_set_deadline(&g, filch_now()), 0);
    filch_group_run_fallible(&g, sleep_long, NULL);
    CHECK_INT(filch_group_wait(&g), -ETIMEDOUT);
    CHECK_INT(filch_stop(), 0);
}

WITH_WORKERS(deadline)
WITH_WORKERS(deadline_changes)
WITH_WORKERS(deadline_of_ended_groups)
WITH_WORKERS(deadline_refused)

CHECK_MAIN(test_deadline, test_deadline_changes, test_deadline_of_ended_groups,
           test_deadline_refused, test_deadline_outlives_runtime)
