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

/* Calls with the handle of a job whose runtime was stopped. */
static filch_job *of_stopped_runtime(bool submit)
{
    filch_job *j = filch_job_new(nothing, NULL);

    if (submit)
        filch_job_submit(j);
    filch_stop();
    return j;
}

#define AFTER_STOP(name, call)                                                                     \
    static void name##_submitted(void)                                                             \
    {                                                                                              \
        filch_job *j = of_stopped_runtime(true);                                                   \
                                                                                                   \
        call;                                                                                      \
    }                                                                                              \
    static void name##_new(void)                                                                   \
    {                                                                                              \
        filch_job *j = of_stopped_runtime(false);                                                  \
                                                                                                   \
        call;                                                                                      \
    }

static filch_group a_group = FILCH_GROUP_INIT;
static filch_pump a_pump = FILCH_PUMP_INIT;

AFTER_STOP(submit, filch_job_submit(j))
AFTER_STOP(wait, filch_job_wait(j))
AFTER_STOP(wait_until, filch_job_wait_until(j, 0))
AFTER_STOP(release, filch_job_release(j))
AFTER_STOP(cancel, filch_job_cancel(j))
AFTER_STOP(is_done, filch_job_is_done(j))
AFTER_STOP(is_cancelled, filch_job_is_cancelled(j))
AFTER_STOP(after, filch_job_after(j, j))
AFTER_STOP(then, filch_job_then(j, j))
AFTER_STOP(set_parent, filch_job_set_parent(j, j))
AFTER_STOP(set_group, filch_job_set_group(j, &a_group))
AFTER_STOP(set_name, filch_job_set_name(j, "name"))
AFTER_STOP(set_priority, filch_job_set_priority(j, FILCH_PRIORITY_HIGH))
AFTER_STOP(set_pump, filch_job_set_pump(j, &a_pump))
AFTER_STOP(child_group, filch_job_child_group(j))

#define CHECK_AFTER_STOP(name)                                                                     \
    do {                                                                                           \
        CHECK(aborts_with(name##_submitted,                                                        \
                          "filch_job_" #name ": the runtime of the job was stopped"));             \
        CHECK(aborts_with(name##_new, "filch_job_" #name ": the runtime of the job was stopped")); \
    } while (0)

static void test_after_stop(void **state)
{
    (void)state;
    CHECK_AFTER_STOP(submit);
    CHECK_AFTER_STOP(wait);
    CHECK_AFTER_STOP(wait_until);
    CHECK_AFTER_STOP(release);
    CHECK_AFTER_STOP(cancel);
    CHECK_AFTER_STOP(is_done);
    CHECK_AFTER_STOP(is_cancelled);
    CHECK_AFTER_STOP(after);
    CHECK_AFTER_STOP(then);
    CHECK_AFTER_STOP(set_parent);
    CHECK_AFTER_STOP(set_group);
    CHECK_AFTER_STOP(set_name);
    CHECK_AFTER_STOP(set_priority);
    CHECK_AFTER_STOP(set_pump);
    CHECK_AFTER_STOP(child_group);
}

static void pump_wait_after_stop(void)
{
    filch_pump_wait(&a_pump, of_stopped_runtime(true));
}

static void test_pump_after_stop(void **state)
{
    (void)state;
    CHECK(aborts_with(pump_wait_after_stop, ": the runtime of the job was stopped"));
}

/* A job of the parent process does not run in the child of a fork. */
static void use_in_child(void *job)
{
    filch_job *const *j = job;

    if (filch_job_submit(j[0]) != 0)
        _exit(3);
    filch_job_release(j[0]);
    filch_job_release(j[1]);
}

static void test_in_child(void **state)
{
    filch_job *j[2] = {filch_job_new(nothing, NULL), filch_job_new(nothing, NULL)};
    struct child_end end;

    (void)state;
    CHECK_INT(child_end_of(&end, use_in_child, j), 0);
    CHECK_INT(end.status, 0);
    filch_job_release(j[0]);
    filch_job_release(j[1]);
    CHECK_INT(filch_stop(), 0);
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

CHECK_MAIN(test_after_wait, test_after_release, test_after_stop, test_pump_after_stop,
           test_in_child, test_release_children)
