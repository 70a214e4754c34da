/* Misuse of handles, timers and functions ends the program with a line that names the mistake. */
#include "child.h"
#include "unit/fiber/helpers.h"

/* ---- timers ---- */

static void nothing(void *arg)
{
    (void)arg;
}

static void start_uninitialised(void)
{
    filch_timer t;

    memset(&t, 0xa5, sizeof t);
    filch_timer_start(&t, 0, nothing, NULL);
}

static void stop_uninitialised(void)
{
    filch_timer t;

    memset(&t, 0xa5, sizeof t);
    filch_timer_stop(&t);
}

static void test_timers(void **state)
{
    const char *words = "filch_timer: the timer was not initialised";

    (void)state;
    CHECK(aborts_with(start_uninitialised, words));
    CHECK(aborts_with(stop_uninitialised, words));
}

/* ---- handles ---- */

static void join_twice(void)
{
    filch_fiber *f = filch_fiber_start(same, NULL);

    filch_fiber_join(f, NULL);
    filch_fiber_join(f, NULL);
}

static void join_until_after_join(void)
{
    filch_fiber *f = filch_fiber_start(same, NULL);

    filch_fiber_join(f, NULL);
    filch_fiber_join_until(f, NULL, 0);
}

/* Another fiber uses the record by then. */
static void join_another(void)
{
    filch_fiber *f = filch_fiber_start(same, NULL), *other;

    filch_fiber_join(f, NULL);
    other = filch_fiber_start(same, NULL);
    filch_fiber_join(f, NULL);
    filch_fiber_join(other, NULL);
}

static void detach_after_join(void)
{
    filch_fiber *f = filch_fiber_start(same, NULL);

    filch_fiber_join(f, NULL);
    filch_fiber_detach(f);
}

static void cancel_after_join(void)
{
    filch_fiber *f = filch_fiber_start(same, NULL);

    filch_fiber_join(f, NULL);
    filch_fiber_cancel(f);
}

static void name_after_join(void)
{
    filch_fiber *f = filch_fiber_start(same, NULL);

    filch_fiber_join(f, NULL);
    filch_fiber_name(f);
}

static void test_after_join(void **state)
{
    (void)state;
    CHECK(aborts_with(join_twice,
                      "filch: filch_fiber_join: the handle was already joined or detached\n"));
    CHECK(
        aborts_with(join_until_after_join,
                    "filch: filch_fiber_join_until: the handle was already joined or detached\n"));
    CHECK(aborts_with(join_another, "filch_fiber_join: the handle was already joined"));
    CHECK(aborts_with(detach_after_join, "filch_fiber_detach: the handle was already joined"));
    CHECK(aborts_with(cancel_after_join, "filch_fiber_cancel: the handle was already joined"));
    CHECK(aborts_with(name_after_join, "filch_fiber_name: the handle was already joined"));
}

static filch_sem never;

static void join_after_detach(void)
{
    filch_fiber *f = filch_fiber_start(wait_for_sem, &never);

    filch_fiber_detach(f);
    filch_fiber_join(f, NULL);
}

static void join_after_detach_at_the_end(void)
{
    filch_fiber *f = filch_fiber_start(same, NULL);

    await_end(f);
    filch_fiber_detach(f);
    filch_fiber_join(f, NULL);
}

static void detach_twice(void)
{
    filch_fiber *f = filch_fiber_start(wait_for_sem, &never);

    filch_fiber_detach(f);
    filch_fiber_detach(f);
}

static void *publish_self(void *handle)
{
    atomic_store((filch_fiber * _Atomic *)handle, filch_fiber_self());
    filch_sem_wait(&never);
    return NULL;
}

static void go_and_publish(void *handle)
{
    publish_self(handle);
}

static void join_without_start(void)
{
    filch_fiber *_Atomic handle = NULL;

    filch_go(go_and_publish, &handle);
    while (!atomic_load(&handle))
        filch_yield();
    filch_fiber_join(atomic_load(&handle), NULL);
}

static void test_after_detach(void **state)
{
    (void)state;
    CHECK(aborts_with(join_after_detach, "filch_fiber_join: the handle was already joined or"));
    CHECK(aborts_with(join_after_detach_at_the_end, "filch_fiber_join: the handle was already"));
    CHECK(aborts_with(detach_twice, "filch_fiber_detach: the handle was already joined or"));
    CHECK(aborts_with(join_without_start, "filch_fiber_join: the handle was already joined or"));
}

static void *join_body(void *f)
{
    filch_fiber_join(f, NULL);
    return NULL;
}

static filch_fiber *start_joined(void)
{
    filch_fiber *f = filch_fiber_start(wait_for_sem, &never);

    filch_fiber_detach(filch_fiber_start(join_body, f));
    await_joiner(f);
    return f;
}

static void two_join(void)
{
    filch_fiber_join(start_joined(), NULL);
}

static void detach_while_joined(void)
{
    filch_fiber_detach(start_joined());
}

static void test_while_joined(void **state)
{
    (void)state;
    CHECK(aborts_with(two_join, "filch_fiber_join: another caller is joining the handle"));
    CHECK(aborts_with(detach_while_joined, "filch_fiber_detach: another caller is joining"));
}

/* ---- functions ---- */

static void go_nowhere(void *arg)
{
    (void)arg;
    filch_go(NULL, NULL);
    filch_stop();
}

static void run_nothing(void *arg)
{
    filch_group g = FILCH_GROUP_INIT;

    (void)arg;
    filch_group_run(&g, NULL, NULL);
    filch_group_wait(&g);
}

/* The start does not check its function.  The fault is reported. */
static void test_null_functions(void **state)
{
    void (*const starts[])(void *) = {go_nowhere, run_nothing};
    struct child_end end;

    (void)state;
    if (FI_UNDER_ASAN || FI_UNDER_TSAN) {
        puts("skipped: a sanitizer reports the fault itself");
        return;
    }
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        CHECK_INT(child_end_of(&end, starts[i], NULL), 0);
        CHECK(strstr(end.text, "filch: fiber \"filch\" called a function that is NULL;"));
        CHECK(WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGSEGV);
    }
}

CHECK_MAIN(test_timers, test_after_join, test_after_detach, test_while_joined, test_null_functions)
