/* Using a job that the caller does not own aborts the program with a message. */
#include "child.h"
#include "unit/job/jobs.h"

static filch_job *submitted(void)
{
    filch_job *j = filch_job_new(nothing, NULL);

    filch_job_submit(j);
    return j;
}

static void wait_twice(void)
{
    filch_job *j = submitted();

    filch_job_wait(j);
    filch_job_wait(j);
}

/* Another job uses the record by then. */
static void wait_for_another(void)
{
    filch_job *j = submitted(), *other;

    filch_job_wait(j);
    other = submitted();
    filch_job_wait(j);
    filch_job_wait(other);
}

static void wait_until_after_wait(void)
{
    filch_job *j = submitted();

    filch_job_wait(j);
    filch_job_wait_until(j, 0);
}

static void release_after_wait(void)
{
    filch_job *j = submitted();

    filch_job_wait(j);
    filch_job_release(j);
}

static void cancel_after_wait(void)
{
    filch_job *j = submitted();

    filch_job_wait(j);
    filch_job_cancel(j);
}

static void is_done_after_wait(void)
{
    filch_job *j = submitted();

    filch_job_wait(j);
    filch_job_is_done(j);
}

static void after_a_stale_job(void)
{
    filch_job *j = submitted();

    filch_job_wait(j);
    filch_job_after(filch_job_new(nothing, NULL), j);
}

static void test_after_wait(void **state)
{
    (void)state;
    CHECK(aborts_with(wait_twice,
                      "filch: filch_job_wait: the job was already waited for or released, "
                      "or belongs to its parent or group\n"));
    CHECK(aborts_with(wait_for_another, "filch_job_wait: the job was already"));
    CHECK(aborts_with(wait_until_after_wait, "filch_job_wait_until: the job was already"));
    CHECK(aborts_with(release_after_wait, "filch_job_release: the job was already"));
    CHECK(aborts_with(cancel_after_wait, "filch_job_cancel: the job was already"));
    CHECK(aborts_with(is_done_after_wait, "filch_job_is_done: the job was already"));
    CHECK(aborts_with(after_a_stale_job, "filch_job_after: the job was already"));
}

/* A job that cannot end yet. */
static filch_job *blocked(void)
{
    filch_job *first = filch_job_new(nothing, NULL), *j = filch_job_new(nothing, NULL);

    filch_job_after(j, first);
    filch_job_submit(j);
    return j;
}

static void release_twice(void)
{
    filch_job *j = blocked();

    filch_job_release(j);
    filch_job_release(j);
}

static void wait_after_release(void)
{
    filch_job *j = blocked();

    filch_job_release(j);
    filch_job_wait(j);
}

static void wait_for_a_member(void)
{
    filch_group g = FILCH_GROUP_INIT;
    filch_job *j = filch_job_new(nothing, NULL);

    filch_job_set_group(j, &g);
    filch_job_submit(j);
    filch_job_wait(j);
}

static void wait_for_a_child(void)
{
    filch_job *parent = filch_job_new(nothing, NULL), *child = filch_job_new(nothing, NULL);

    filch_job_set_parent(child, parent);
    filch_job_submit(child);
    filch_job_wait(child);
}

static void test_after_release(void **state)
{
    (void)state;
    CHECK(aborts_with(release_twice, "filch_job_release: the job was already"));
    CHECK(aborts_with(wait_after_release, "filch_job_wait: the job was already"));
    CHECK(aborts_with(wait_for_a_member, "filch_job_wait: the job was already"));
    CHECK(aborts_with(wait_for_a_child, "filch_job_wait: the job was already"));
}

static void wait_after_stop(void)
{
    filch_job *j = submitted();

    filch_stop();
    filch_job_wait(j);
}

static void test_after_stop(void **state)
{
    (void)state;
    CHECK(aborts_with(wait_after_stop, "filch_job_wait: the runtime of the job was stopped"));
}

/* A child that is released before its submission is freed once. */
static void release_children(void)
{
    for (int i = 0; i < SCALED(2000); i++) {
        filch_job *parent = filch_job_new(nothing, NULL), *child = filch_job_new(nothing, NULL);
        filch_job *other;
        CHECK_INT(filch_job_set_parent(child, parent), 0);
        filch_job_release(child);
        other = filch_job_new(nothing, NULL);
        CHECK_INT(filch_job_submit(parent), 0);
        CHECK_INT(filch_job_submit(other), 0);
        CHECK_INT(filch_job_wait(other), 0);
        filch_job_wait(parent);
    }
}

WITH_WORKERS(release_children)

CHECK_MAIN(test_after_wait, test_after_release, test_after_stop, test_release_children)
