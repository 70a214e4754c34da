/* Members of a group run when they are added.  Errors and cancellation are those of the library, and
 * so are the results of starts and stops. */
#include "check.h"

#include <filch/filch.h>

static int calls;

static void count(void *arg)
{
    calls += *(int *)arg;
}

static int return_error(void *arg)
{
    calls++;
    return *(int *)arg;
}

static void members_run(void **state)
{
    filch_group g = FILCH_GROUP_INIT;
    int one = 1;

    (void)state;
    calls = 0;
    for (int i = 0; i < 10; i++)
        CHECK_INT(filch_group_run(&g, count, &one), 0);
    CHECK_INT(calls, 10);
    CHECK_INT(filch_group_wait(&g), 0);
    CHECK_INT(filch_group_wait_until(&g, FILCH_FOREVER), 0);
}

static void first_error_is_returned(void **state)
{
    filch_group g = FILCH_GROUP_INIT;
    int errors[] = {0, 5, 7};

    (void)state;
    calls = 0;
    for (int i = 0; i < 3; i++)
        CHECK_INT(filch_group_run_fallible(&g, return_error, &errors[i]), 0);
    CHECK_INT(calls, 2); /* the error cancels the group */
    CHECK_INT(filch_group_wait(&g), 5);
    CHECK_INT(filch_group_wait(&g), 0);
}

/* Adds a member that fails, and fails later than it. */
static int add_and_fail(void *group)
{
    int earlier = 5;

    CHECK_INT(filch_group_run_fallible(group, return_error, &earlier), 0);
    return 7;
}

static void error_of_inner_member_is_first(void **state)
{
    filch_group g = FILCH_GROUP_INIT;

    (void)state;
    CHECK_INT(filch_group_run_fallible(&g, add_and_fail, &g), 0);
    CHECK_INT(filch_group_wait(&g), 5);
}

static void cancelled_groups_drop(void **state)
{
    filch_group g = FILCH_GROUP_INIT, on_error = FILCH_GROUP_INIT;
    int one = 1;

    (void)state;
    calls = 0;
    filch_group_cancel(&g);
    CHECK(filch_group_is_cancelled(&g));
    CHECK_INT(filch_group_run(&g, count, &one), 0);
    CHECK_INT(filch_group_run_fallible(&g, return_error, &one), 0);
    CHECK_INT(calls, 0);
    CHECK_INT(filch_group_dropped(&g), 2);
    CHECK_INT(filch_group_wait(&g), -ECANCELED);
    CHECK(!filch_group_is_cancelled(&g));
    CHECK_INT(filch_group_run_fallible(&on_error, return_error, &one), 0);
    CHECK_INT(filch_group_run(&on_error, count, &one), 0);
    CHECK_INT(calls, 1);
    CHECK_INT(filch_group_wait(&on_error), 1);
}

int other_file_start(void);

/* As with the library, the first start returns 0, and the last stop. */
static void starts_are_counted(void **state)
{
    (void)state;
    CHECK_INT(filch_stop(), 0);
    CHECK_INT(filch_start(NULL), 0);
    CHECK_INT(filch_start(NULL), 1);
    CHECK_INT(other_file_start(), 1);
    CHECK_INT(filch_stop(), 1);
    CHECK_INT(filch_stop(), 1);
    CHECK_INT(filch_stop(), 0);
    CHECK_INT(filch_stop(), 0);
    CHECK_INT(filch_start(NULL), 0);
    CHECK_INT(filch_stop(), 0);
    CHECK_INT(filch_worker_count(), 1);
    CHECK_INT(filch_worker_index(), 0);
}

CHECK_MAIN(starts_are_counted, members_run, first_error_is_returned, error_of_inner_member_is_first,
           cancelled_groups_drop)
