/* Groups and jobs: functions to be run by the workers, and ways to wait for them.
 *
 *     #include <filch/job.h>
 *     #include <stdio.h>
 *
 *     static int squares[10];
 *
 *     static void square(void *arg)
 *     {
 *         int *n = (int *)arg;
 *         *n *= *n;
 *     }
 *     int main(void)
 *     {
 *         filch_group g = FILCH_GROUP_INIT;
 *         for (int i = 0; i < 10; i++)
 *             squares[i] = i, filch_group_run(&g, square, &squares[i]);
 *         filch_group_wait(&g);
 *         printf("%d\n", squares[9]);
 *         return 0;
 *     }
 *
 * All calls may come from any thread, from tasks and from jobs, unless they say otherwise.  What is run runs on a
 * fiber: it may wait for anything, and only the fiber waits.  Errors are 0 or -errno.
 *
 * A group is for many functions of which none needs a name.  A job has one, to say what comes after what.
 */
#ifndef FILCH_JOB_H
#define FILCH_JOB_H

#include <filch/time.h>
#include <filch/version.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

FILCH_BEGIN_DECLS

/* ---- groups ---- */

/* Anywhere in memory, for as long as something of it runs.  The fields are Filch's. */
typedef struct filch_group {
    uint32_t state_;
    uint32_t flags_;
    int32_t error_;
    uint32_t dropped_;
} filch_group;

/* clang-format off */
#define FILCH_GROUP_INIT {0, 0, 0, 0}
#define FILCH_GROUP_CANCEL_ON_ERROR {0, 2, 0, 0} /* in its place: the first error cancels the rest */
/* clang-format on */

/* Run work(arg), now or soon, on any worker.
 * Blocks: nothing.
 * Returns: 0; -ENOMEM: it will not run, and filch_group_wait says so again. */
FILCH_API int filch_group_run(filch_group *g, void (*work)(void *arg), void *arg);

/* The same for work that may fail: the first error (that is not 0) is the group's. */
FILCH_API int filch_group_run_fallible(filch_group *g, int (*work)(void *arg), void *arg);

/* Wait for all that was run so far.  Then the group is as new, and may be used again or freed.  Not from its own work,
 * which would wait for itself.
 * Blocks: the thread, or parks the fiber.
 * Returns: 0; the first error of its work; -ECANCELED when it was cancelled and nothing failed.
 * filch_group_wait_until: also -ETIMEDOUT when filch_now() passes the deadline, and -ECANCELED when the calling fiber was cancelled before
 * (filch_fiber_is_cancelled); then the group goes on as before.  Without a deadline (FILCH_FOREVER) a cancelled fiber waits on. */
FILCH_API int filch_group_wait(filch_group *g);
FILCH_API int filch_group_wait_until(filch_group *g, int64_t deadline);

/* What has not begun is dropped; what runs may ask.  This ends with the next wait. */
FILCH_API void filch_group_cancel(filch_group *g);
FILCH_API bool filch_group_is_cancelled(const filch_group *g);

/* How many pieces of work were dropped since the group was made. */
FILCH_API size_t filch_group_dropped(const filch_group *g);

/* ---- jobs ---- */

/* A job is made, told what it comes after, submitted, and runs when all of that is done.  It is done when its
 * function has returned and its children are done.
 *
 * The caller owns a job until it waits for it or releases it.  A job with a parent or a group belongs to that from its
 * submission on.  A program that builds a graph puts its jobs into a group, makes all edges, submits the jobs and waits
 * for the group.
 *
 * The caller must not use a job that it no longer owns.  Only the job's own work may, while it runs.  A call that gets the
 * handle of such a job aborts the program with a message that names the call.  The handle is not recognised if the
 * memory of the job was reused for exactly 64 later jobs, or a multiple of 64.
 *
 * filch_stop() waits for all jobs that can run, and then there are none: what was not waited for before must not be
 * used any more.  A program that ends without it does not wait for jobs. */
typedef struct filch_job filch_job;

#define FILCH_JOB_PAYLOAD_MAX 64

/* Returns: the job; NULL when there is no memory.  Calls that return an error and get NULL for a job say -EINVAL. */
FILCH_API filch_job *filch_job_new(void (*work)(void *arg), void *arg);
/* For work that may fail.  Jobs that come after one that failed do not run, and end with its error. */
FILCH_API filch_job *filch_job_new_fallible(int (*work)(void *arg), void *arg);
/* With a copy of size bytes, which work gets the address of, aligned to 16.
 * NULL also for more than FILCH_JOB_PAYLOAD_MAX. */
FILCH_API filch_job *filch_job_new_copy(void (*work)(void *copy), const void *payload, size_t size);

/* Before its submission: */

/* The parent is done after its children.  A parent that is done gets no more of them.  Nor is there more than one.
 * Returns: 0; -EBUSY when the child has been submitted or has a parent or a group; -ELOOP. */
FILCH_API int filch_job_set_parent(filch_job *child, filch_job *parent);
/* Put the job into the group: filch_group_wait waits for it, from now on.
 * Returns: as above. */
FILCH_API int filch_job_set_group(filch_job *job, filch_group *g);
/* For messages; not copied. */
FILCH_API void filch_job_set_name(filch_job *job, const char *name);

typedef enum filch_priority {
    FILCH_PRIORITY_NORMAL,
    FILCH_PRIORITY_HIGH, /* before all other work; every 61st choice of a worker ignores priorities */
    FILCH_PRIORITY_LOW, /* when there is nothing else, or now and then */
} filch_priority;
FILCH_API void filch_job_set_priority(filch_job *job, filch_priority priority);

/* The job whose work this is; NULL where it is none's, such as in a task of it that another worker took. */
FILCH_API filch_job *filch_job_self(void);

/* The group of a job's children: a cheap way to have many.  It is for filch_group_run and _try from the job's own
 * work or before its submission, and for filch_group_is_cancelled. */
FILCH_API filch_group *filch_job_child_group(filch_job *job);

/* Job runs when `dependency` is done; that may be so already.  Also after job was submitted, as long as it waits for something.
 * Returns: 0; -EBUSY when job has begun or is about to; -ELOOP when `dependency` needs job in turn, and a line on
 * stderr that names the cycle; -ENOMEM (never for the first of a job). */
FILCH_API int filch_job_after(filch_job *job, filch_job *dependency);

/* It runs as soon as nothing is in its way.
 * Returns: 0; -EBUSY when it was submitted before. */
FILCH_API int filch_job_submit(filch_job *job);

/* A continuation: filch_job_after and filch_job_submit in one, and no memory is needed. */
FILCH_API int filch_job_then(filch_job *dependency, filch_job *job);

/* If it has not begun it will not; its children that have not begun neither.  Jobs that come after it do not run, and
 * end with -ECANCELED.  It still must be submitted to end.  Work that runs may ask; one that asks and is cancelled, as
 * its parent is or its group, passes that on to its own children. */
FILCH_API void filch_job_cancel(filch_job *job);
FILCH_API bool filch_job_is_cancelled(const filch_job *job);

/* Is it done? */
FILCH_API bool filch_job_is_done(const filch_job *job);

/* Wait until it is done, and release it.
 * Blocks: the thread, or parks the fiber.
 * Returns: 0; the first error of it and its children; -ECANCELED.
 * filch_job_wait_until: also -ETIMEDOUT; then it was not released.  (So a job should fail with another error.)
 * A fiber that was cancelled waits on. */
FILCH_API int filch_job_wait(filch_job *job);
FILCH_API int filch_job_wait_until(filch_job *job, int64_t deadline);

/* Give up the job without waiting for it.  A submitted job still runs, and is freed when it is done.  A job that was never
 * submitted is cancelled and freed; jobs that depend on it end with -ECANCELED.
 * Blocks: nothing. */
FILCH_API void filch_job_release(filch_job *job);

/* ---- pumps ---- */

/* For jobs that only one thread may run, such as the one that draws.  They run when that thread pumps, in the order in which they
 * became ready, on the thread's own stack.  Anywhere in memory; the fields are Filch's.  Call filch_stop() only when
 * no such job is left. */
typedef struct filch_pump {
    void *first_;
    void *last_;
    const void *wait_key_;
    uint32_t lock_;
    uint32_t n_;
} filch_pump;

/* clang-format off */
#define FILCH_PUMP_INIT {0, 0, 0, 0, 0}
/* clang-format on */

/* Before its submission: the job runs in this pump. */
FILCH_API void filch_job_set_pump(filch_job *job, filch_pump *p);

/* Run what is there, but not what comes meanwhile.
 * Call from: the one thread (a fiber would wander from thread to thread).  Blocks: nothing.
 * Returns: how many. */
FILCH_API size_t filch_pump_run(filch_pump *p);

/* The same until the job is done, and then as filch_job_wait_until; FILCH_FOREVER: no deadline.
 * Blocks: the thread, while nothing is there. */
FILCH_API int filch_pump_wait(filch_pump *p, filch_job *job);
FILCH_API int filch_pump_wait_until(filch_pump *p, filch_job *job, int64_t deadline);

FILCH_END_DECLS

#endif
