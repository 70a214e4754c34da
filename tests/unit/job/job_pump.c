/* Jobs of a pump run in its thread, in order, and wake it when it waits. */
#include "child.h"
#include "unit/job/jobs.h"

#include <stdbool.h>

static pthread_t pumper;
static atomic_int here, elsewhere;

static void note_thread(void *arg)
{
    (void)arg;
    atomic_fetch_add(pthread_equal(pthread_self(), pumper) ? &here : &elsewhere, 1);
}

static void run_in_thread(void)
{
    filch_pump p = FILCH_PUMP_INIT;
    int when[10];

    pumper = pthread_self();
    atomic_store(&here, 0), atomic_store(&elsewhere, 0);
    CHECK_INT(filch_pump_run(&p), 0);
    for (int i = 0; i < 10; i++) {
        filch_job *j = filch_job_new(stamp, &when[i]), *k = filch_job_new(note_thread, NULL);
        filch_job_set_pump(j, &p), filch_job_set_pump(k, &p);
        filch_job_submit(j), filch_job_submit(k);
        filch_job_release(j), filch_job_release(k);
    }
    CHECK_INT(filch_pump_run(&p), 20);
    CHECK_INT(atomic_load(&here), 10);
    CHECK_INT(atomic_load(&elsewhere), 0);
    for (int i = 1; i < 10; i++)
        CHECK(when[i - 1] < when[i]);
}

/* A chain of jobs that alternate between the pump and the workers. */
static void alternating_chain(void)
{
    enum { STEPS = 200 };
    filch_pump p = FILCH_PUMP_INIT;
    filch_job *last = NULL;

    pumper = pthread_self();
    atomic_store(&here, 0);
    for (int i = 0; i < STEPS; i++) {
        filch_job *j = filch_job_new(i % 2 ? note_thread : nothing, NULL);
        if (i % 2)
            filch_job_set_pump(j, &p);
        if (last) {
            filch_job_after(j, last);
            filch_job_release(last);
        }
        filch_job_submit(j);
        last = j;
    }
    CHECK_INT(filch_pump_wait(&p, last), 0);
    CHECK_INT(atomic_load(&here), STEPS / 2);
}

static void deadlines_and_errors(void)
{
    filch_pump p = FILCH_PUMP_INIT;
    int error = -EIO;
    filch_job *first = filch_job_new_fallible(end_with, &error),
              *drawn = filch_job_new(note_thread, NULL);

    filch_job_set_pump(drawn, &p);
    filch_job_then(first, drawn);
    CHECK_INT(filch_pump_wait_until(&p, drawn, 0), -ETIMEDOUT);
    CHECK_INT(filch_pump_wait_until(&p, drawn, filch_now() + FILCH_MS(1)), -ETIMEDOUT);
    filch_job_submit(first);
    CHECK_INT(filch_pump_wait(&p, drawn), -EIO);
    CHECK_INT(filch_pump_wait_until(&p, NULL, 0), -EINVAL);
    CHECK_INT(filch_job_wait(first), -EIO);
}

/* The library does not access a pump after its jobs are done. */
static void pumps_are_created_and_freed(void)
{
    for (int i = 0; i < SCALED(2000); i++) {
        filch_pump *p = calloc(1, sizeof *p);
        filch_job *j = filch_job_new(nothing, NULL);
        if (i % 2)
            filch_job_set_pump(j, p);
        if (i % 3 == 0)
            CHECK_INT(filch_pump_wait_until(p, j, filch_now() + 1000), -ETIMEDOUT);
        filch_job_submit(j);
        CHECK_INT(filch_pump_wait(p, j), 0);
        free(p);
    }
}

static filch_pump fed;
static atomic_bool enough;

static void feed(void *arg)
{
    filch_job *next = atomic_load(&enough) ? NULL : filch_job_new(feed, NULL);

    (void)arg;
    filch_job_set_pump(next, &fed);
    filch_job_submit(next);
    filch_job_release(next);
}

/* Jobs that submit jobs without end must not keep the thread beyond its deadline, nor in a single
 * run of the queued jobs. */
static void endless(void)
{
    filch_job *j = filch_job_new(nothing, NULL);

    atomic_store(&enough, false);
    feed(NULL);
    CHECK_INT(filch_pump_run(&fed), 1);
    CHECK_INT(filch_pump_wait_until(&fed, j, filch_now() + FILCH_MS(2)), -ETIMEDOUT);
    atomic_store(&enough, true);
    CHECK_INT(filch_pump_run(&fed), 1);
    CHECK_INT(filch_pump_run(&fed), 0);
    filch_job_release(j);
}

static void check_self(void *job)
{
    CHECK(filch_job_self() == *(filch_job **)job);
}

static void self(void)
{
    filch_pump p = FILCH_PUMP_INIT;
    filch_job *j = filch_job_new(check_self, &j);

    filch_job_set_pump(j, &p);
    filch_job_submit(j);
    CHECK_INT(filch_pump_wait(&p, j), 0);
    CHECK(filch_job_self() == NULL);
}

static void pump_in_fiber(void *pump)
{
    filch_pump_run(pump);
}

static void misuse(void *arg)
{
    filch_pump p = FILCH_PUMP_INIT;
    filch_group g = FILCH_GROUP_INIT;

    (void)arg;
    filch_group_run(&g, pump_in_fiber, &p);
    filch_group_wait(&g);
}

static void pump_in_fiber_aborts(void **state)
{
    struct child_end end;

    (void)state;
    child_end_of(&end, misuse, NULL);
    CHECK(WIFSIGNALED(end.status));
    CHECK(strstr(end.text,
                 "filch: filch_pump_run: called from a fiber; call it from the pump's thread") !=
          NULL);
}

WITH_WORKERS(run_in_thread)
WITH_WORKERS(alternating_chain)
WITH_WORKERS(deadlines_and_errors)
WITH_WORKERS(pumps_are_created_and_freed)
WITH_WORKERS(endless)
WITH_WORKERS(self)

CHECK_MAIN(test_run_in_thread, test_alternating_chain, test_deadlines_and_errors,
           test_pumps_are_created_and_freed, test_self, pump_in_fiber_aborts, test_endless)
