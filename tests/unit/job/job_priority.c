/* Endless chains of high-priority jobs on all workers do not stop timers, I/O and work of normal
 * and low priority.  Each chain ends when what it waits for has run, or fails after a number of
 * jobs that no fair scheduler needs. */
#include "unit/io/helpers.h"

#include <filch/job.h>

#define JOBS_MAX 2000000
#define STARTED  1000 /* jobs of a chain before the work that must not starve is made */

static atomic_bool ran;
static atomic_long jobs;
static void (*make)(void); /* the work, once */
static filch_group chains;

static void add_link(void);

static void chain_link(void *arg)
{
    long n = atomic_fetch_add(&jobs, 1);

    (void)arg;
    if (n == STARTED)
        make();
    if (!atomic_load(&ran) && n < JOBS_MAX)
        add_link();
}

static void add_link(void)
{
    filch_job *j = filch_job_new(chain_link, NULL);

    CHECK(j != NULL);
    filch_job_set_priority(j, FILCH_PRIORITY_HIGH);
    CHECK_INT(filch_job_set_group(j, &chains), 0);
    CHECK_INT(filch_job_submit(j), 0);
}

/* Two chains for each worker: there is always a high-priority job to take. */
static void run_chains(void (*made)(void))
{
    make = made;
    atomic_store(&ran, false);
    atomic_store(&jobs, 0);
    for (unsigned i = 0; i < 2 * filch_worker_count(); i++)
        add_link();
    CHECK_INT(filch_group_wait(&chains), 0);
    CHECK(atomic_load(&ran));
}

static void record_run(void *arg)
{
    (void)arg;
    atomic_store(&ran, true);
}

/* ---- timers ---- */

static filch_timer timer;

static void start_timer(void)
{
    CHECK_INT(filch_timer_start(&timer, filch_now(), record_run, NULL), 0);
}

static void timer_fires(void)
{
    run_chains(start_timer);
    filch_timer_stop(&timer);
}

static void sleep_shortly(void *arg)
{
    filch_sleep(1);
    record_run(arg);
}

static void start_sleeper(void)
{
    CHECK_INT(filch_go(sleep_shortly, NULL), 0);
}

static void sleeper_wakes(void)
{
    run_chains(start_sleeper);
}

/* ---- I/O ---- */

static int fd[2];

static void *read_and_record(void *arg)
{
    char c;

    CHECK_INT(filch_read(fd[0], &c, 1), 1);
    record_run(arg);
    return NULL;
}

static void write_byte(void)
{
    CHECK_INT(write(fd[1], "x", 1), 1);
}

static void event_arrives(void)
{
    filch_fiber *reader;

    CHECK_INT(filch_socketpair(fd), 0);
    reader = filch_fiber_start(read_and_record, NULL);
    await_waiting(fd[0], FI_IO_READ, 1);
    run_chains(write_byte);
    CHECK_INT(filch_fiber_join(reader, NULL), 0);
    CHECK_INT(filch_close(fd[0]), 0);
    CHECK_INT(filch_close(fd[1]), 0);
}

/* ---- other priorities ---- */

static void submit_with(filch_priority priority)
{
    filch_job *j = filch_job_new(record_run, NULL);

    CHECK(j != NULL);
    filch_job_set_priority(j, priority);
    CHECK_INT(filch_job_submit(j), 0);
    filch_job_release(j);
}

static void submit_normal(void)
{
    submit_with(FILCH_PRIORITY_NORMAL);
}

static void submit_low(void)
{
    submit_with(FILCH_PRIORITY_LOW);
}

static void other_jobs_run(void)
{
    run_chains(submit_normal);
    run_chains(submit_low);
}

WITH_WORKERS(timer_fires)
WITH_WORKERS(sleeper_wakes)
WITH_WORKERS(event_arrives)
WITH_WORKERS(other_jobs_run)

CHECK_MAIN(test_timer_fires, test_sleeper_wakes, test_event_arrives, test_other_jobs_run)
