/* Groups and jobs: functions that the workers run, and ways to order them and to wait for them.
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
 * A group runs many functions without handles.  A job has a handle, so it can depend on other jobs.
 * The functions run on fibers: when one waits, its worker runs other fibers.
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

/* A set of functions that are waited for together.  The caller provides the memory, which must stay
 * valid until all work of the group is done.  The fields are private. */
typedef struct filch_group {
    uint32_t lock_;
    uint32_t visit_;
    uint64_t cancelled_;
    void *members_;
    void *parent_;
    void *outer_;
    uint32_t state_;
    uint32_t flags_;
    int32_t error_;
    uint32_t dropped_;
    void *deadline_;
} filch_group;

/* clang-format off */
#define FILCH_GROUP_INIT {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
#define FILCH_GROUP_DROPS_NOTHING_ {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0} /* for the library */
/* clang-format on */

#ifdef FILCH_SERIAL
#include <filch/serial/job.h>
#else

/* Run work(arg) on a worker, as part of the group.  If the runtime cannot be started, the call runs
 * work(arg) itself.
 * Call from: any thread, fiber, task or job.  Blocks: nothing.
 * Returns: 0: the work was queued.
 *     -ENOMEM: there is no memory.  The work will not run, and filch_group_wait returns -ENOMEM,
 *         too. */
FILCH_API int filch_group_run(filch_group *g, void (*work)(void *arg), void *arg);

/* Run work(arg), as filch_group_run does.  A result that is not 0 is an error, and
 * filch_group_wait returns the first one.  An error cancels the group.  The result -ECANCELED of
 * work in a cancelled group is not an error.
 * Call from: any thread, fiber, task or job.  Blocks: nothing.
 * Returns: 0: the work was queued.
 *     -ENOMEM: there is no memory.  The work will not run, and filch_group_wait returns -ENOMEM,
 *         too. */
FILCH_API int filch_group_run_fallible(filch_group *g, int (*work)(void *arg), void *arg);

/* Wait until all work of the group is done.  Then the group is as initialised, and may be used
 * again or freed.  A cancelled fiber cancels the group, and still waits.
 * Call from: any thread, fiber, task or job, but not the group's own work.  Blocks: the fiber or
 *     the thread.
 * Returns: 0; the first error of the group's work.
 *     -ECANCELED: the group was cancelled, and no work failed.
 *     -ETIMEDOUT: the group was cancelled by its deadline, and no work failed.
 *     -ENOMEM: a filch_group_run failed. */
FILCH_API int filch_group_wait(filch_group *g);

/* Wait until all work of the group is done, or give up at the deadline.  If this call gives up, the
 * group stays as it is.  A cancelled fiber cancels the group, and still waits.
 * Call from: any thread, fiber, task or job, but not the group's own work.  Blocks: the fiber or
 *     the thread.
 * Returns: 0; the first error of the group's work.
 *     -ECANCELED: the group was cancelled, and no work failed.
 *     -ETIMEDOUT: the deadline passed, and the group is not done.  Or the group was cancelled by
 *         its own deadline, and no work failed.  A further filch_group_wait is right in both cases.
 *     -ENOMEM: a filch_group_run failed, or there is no memory to wait with a deadline. */
FILCH_API int filch_group_wait_until(filch_group *g, int64_t deadline);

/* Cancel the group.  Work that has not started is dropped.  The cancellable waits of running work
 * return -ECANCELED, now and later (filch-cancel(7)).  Work that does not wait can ask
 * filch_group_is_cancelled.  The cancellation ends with the next wait.
 * Call from: any thread, fiber, task or job.  Blocks: nothing. */
FILCH_API void filch_group_cancel(filch_group *g);

/* Cancel the group at a time, as filch_group_cancel does.  The next wait removes the deadline, or
 * this call with FILCH_FOREVER.  A later call replaces it.  A group with a deadline must be waited
 * for before its memory is freed.
 * deadline: absolute (filch_now).
 * Call from: any thread, fiber, task or job.  Blocks: nothing.
 * Returns: 0.
 *     -ENOMEM: there is no memory.  The earlier deadline stays.
 *     -EINVAL: g is NULL, or the child group of a job.
 *     Other errors are those of filch_start, if the runtime cannot be started. */
FILCH_API int filch_group_set_deadline(filch_group *g, int64_t deadline);

/* Ask whether the group is cancelled.
 * Call from: any thread, fiber, task or job.  Blocks: nothing.
 * Returns: true: it is cancelled. */
FILCH_API bool filch_group_is_cancelled(const filch_group *g);

/* Count the pieces of work that were dropped since the group was initialised.
 * Call from: any thread, fiber, task or job.  Blocks: nothing.
 * Returns: the number. */
FILCH_API size_t filch_group_dropped(const filch_group *g);

#endif

/* ---- jobs ---- */

/* A job is created, gets its dependencies, and is submitted.  It runs when all its dependencies are
 * done.  It is done when its function has returned and its children are done.
 *
 * The caller owns a job until it waits for it or releases it.  A job with a parent or a group
 * belongs to that from its submission on.  A program that builds a graph puts its jobs into a
 * group, makes all edges, submits the jobs and waits for the group.
 *
 * The caller must not use a job that it no longer owns.  Only the job's own function may, while it
 * runs.  A call that gets the handle of such a job aborts the program with a message that names
 * the call.  The handle is not recognised if the memory of the job was reused for exactly 64 later
 * jobs, or a multiple of 64.
 *
 * A job that is NULL is named by a message, also in calls that return nothing.  Only
 * filch_job_release and filch_job_cancel ignore it.
 *
 * filch_stop() waits for all jobs that can run, and frees all jobs.  A program that exits without
 * filch_stop() does not wait for jobs. */
typedef struct filch_job filch_job;

#define FILCH_JOB_PAYLOAD_MAX 64

/* Create a job that calls work(arg).
 * Call from: any thread, fiber, task or job.  Blocks: nothing.
 * Returns: the job; NULL: there is no memory, work is NULL, or the runtime cannot be started.  A
 *     message names the last two. */
FILCH_API filch_job *filch_job_new(void (*work)(void *arg), void *arg);

/* Create a job that calls work(arg), which may fail.  A result that is not 0 is an error.  Jobs
 * that depend on a failed job do not run, and end with the same error.
 * Call from: any thread, fiber, task or job.  Blocks: nothing.
 * Returns: the job; NULL: there is no memory, work is NULL, or the runtime cannot be started.  A
 *     message names the last two. */
FILCH_API filch_job *filch_job_new_fallible(int (*work)(void *arg), void *arg);

/* Create a job that calls work(copy), where copy is a copy of size bytes at payload.
 * size: at most FILCH_JOB_PAYLOAD_MAX.  The copy is aligned to 16 bytes.
 * Call from: any thread, fiber, task or job.  Blocks: nothing.
 * Returns: the job; NULL: there is no memory, size is too large, work is NULL, payload is NULL and
 *     size is not 0, or the runtime cannot be started.  A message names all but the first. */
FILCH_API filch_job *filch_job_new_copy(void (*work)(void *copy), const void *payload, size_t size);

/* Make child a child of parent, which is done only after its children.  A job has at most one
 * parent or group.  Call it before the child is submitted, and not while another thread adds a
 * child to the child.
 * Call from: any thread, fiber, task or job.  Blocks: nothing.
 * Returns: 0.
 *     -EBUSY: the child was submitted or has a parent or a group, or the parent is done.
 *     -ELOOP: the child depends on the parent.  A message on stderr names the cycle.
 *     -EINVAL: a job is NULL. */
FILCH_API int filch_job_set_parent(filch_job *child, filch_job *parent);

/* Make the job part of a group: filch_group_wait waits for it from now on.  Call it before the
 * job is submitted, and not while another thread adds a child to it.
 * Call from: any thread, fiber, task or job.  Blocks: nothing.
 * Returns: 0.
 *     -EBUSY: the job was submitted, or has a parent or a group.
 *     -EINVAL: job or g is NULL. */
FILCH_API int filch_job_set_group(filch_job *job, filch_group *g);

/* Set the name of the job for messages.  The string is not copied.  Call it before the job is
 * submitted.
 * Call from: any thread, fiber, task or job.  Blocks: nothing. */
FILCH_API void filch_job_set_name(filch_job *job, const char *name);

typedef enum filch_priority {
    FILCH_PRIORITY_NORMAL,
    FILCH_PRIORITY_HIGH, /* before all other work; every 61st pick of a worker ignores priorities */
    FILCH_PRIORITY_LOW,  /* when there is no other work, and at every 61st pick */
} filch_priority;

/* Set the priority of the job.  Call it before the job is submitted.  A value that is none of the
 * constants is named by a message and ignored.
 * Call from: any thread, fiber, task or job.  Blocks: nothing. */
FILCH_API void filch_job_set_priority(filch_job *job, filch_priority priority);

/* Get the job whose function is running.
 * Call from: any thread, fiber, task or job.  Blocks: nothing.
 * Returns: the job; NULL: the caller is not a job's function, or is a stolen task of it. */
FILCH_API filch_job *filch_job_self(void);

/* Get the group of the job's children.  Work that runs in this group is a cheap kind of child.  Use
 * it for filch_group_run, filch_group_run_fallible and filch_group_is_cancelled, from the job's
 * function or before its submission.
 * Call from: any thread, fiber, task or job.  Blocks: nothing.
 * Returns: the group; NULL: job is NULL. */
FILCH_API filch_group *filch_job_child_group(filch_job *job);

/* Make job depend on dependency: it runs after dependency is done, which may be so already.  This
 * is also allowed after job was submitted, while it waits for another dependency.
 * Call from: any thread, fiber, task or job.  Blocks: nothing.
 * Returns: 0.
 *     -EBUSY: job has started or is about to.
 *     -ELOOP: dependency depends on job.  A message on stderr names the cycle.
 *     -ENOMEM: there is no memory.  The first call for a job needs none, a later one may, even if
 *         the first one failed.
 *     -EINVAL: a job is NULL. */
FILCH_API int filch_job_after(filch_job *job, filch_job *dependency);

/* Submit the job: it runs as soon as its dependencies are done.
 * Call from: any thread, fiber, task or job.  Blocks: nothing.
 * Returns: 0.
 *     -EBUSY: it was submitted before.
 *     -EINVAL: job is NULL. */
FILCH_API int filch_job_submit(filch_job *job);

/* Make job a continuation of dependency: filch_job_after and filch_job_submit in one call.
 * Call from: any thread, fiber, task or job.  Blocks: nothing.
 * Returns: 0.
 *     -EBUSY: job was submitted before.
 *     -ELOOP: dependency depends on job.  A message on stderr names the cycle.
 *     -ENOMEM: there is no memory.  The first call for a job needs none, a later one may, even if
 *         the first one failed.
 *     -EINVAL: a job is NULL. */
FILCH_API int filch_job_then(filch_job *dependency, filch_job *job);

/* Cancel the job.  If its function has not started, it will not run, and neither will its children.
 * The cancellable waits of its function and of its children return -ECANCELED, now and later.  Jobs
 * that depend on it do not run, and end with -ECANCELED.  A cancelled job must still be submitted
 * to end.  An error of the function or of a child cancels the job, too.  NULL is allowed.
 * Call from: any thread, fiber, task or job.  Blocks: nothing. */
FILCH_API void filch_job_cancel(filch_job *job);

/* Ask whether the job is cancelled, or a parent or group to which it belongs.  If so, the job's
 * children that have not started are cancelled, too.
 * Call from: any thread, fiber, task or job.  Blocks: nothing.
 * Returns: true: it is cancelled; false: it is not, or job is NULL. */
FILCH_API bool filch_job_is_cancelled(const filch_job *job);

/* Ask whether the job is done.
 * Call from: any thread, fiber, task or job.  Blocks: nothing.
 * Returns: true: it is done, or NULL. */
FILCH_API bool filch_job_is_done(const filch_job *job);

/* Wait until the job is done, and release it.  If filch_job_wait_until gives up, the job is not
 * released, so a job's function should not return -ETIMEDOUT or -ENOMEM.  A cancelled fiber
 * cancels the job, and still waits.
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread.
 * Returns: 0; the first error of the job, its children or its dependencies.
 *     -ECANCELED: the job was cancelled.
 *     -EINVAL: job is NULL.
 *     -ETIMEDOUT: filch_job_wait_until: the deadline passed.
 *     -ENOMEM: filch_job_wait_until: no memory to wait with a deadline. */
FILCH_API int filch_job_wait(filch_job *job);
FILCH_API int filch_job_wait_until(filch_job *job, int64_t deadline);

/* Release the job without waiting.  A submitted job still runs.  A job that was never submitted is
 * freed, and jobs that depend on it end with -ECANCELED.  NULL is allowed.
 * Call from: any thread, fiber, task or job.  Blocks: nothing. */
FILCH_API void filch_job_release(filch_job *job);

/* ---- pumps ---- */

/* A queue of jobs that one thread runs, on its own stack and in the order in which they became
 * ready: for code that must stay in one thread, such as graphics.  The caller provides the memory.
 * The fields are private.  Call filch_stop() only when the pump is empty. */
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

/* Let the job run in this pump, not on a worker.  Call it before the job is submitted.
 * p: NULL: on a worker.
 * Call from: any thread, fiber, task or job.  Blocks: nothing. */
FILCH_API void filch_job_set_pump(filch_job *job, filch_pump *p);

/* Run the jobs that are in the pump now.  Calling it from a fiber aborts the program.
 * Call from: the pump's thread.  Blocks: nothing.
 * Returns: the number of jobs that were run; 0: there are none, or p is NULL. */
FILCH_API size_t filch_pump_run(filch_pump *p);

/* Run jobs of the pump until the given job is done, and release that job, as filch_job_wait does.
 * If filch_pump_wait_until gives up, the job is not released.  Calling it from a fiber aborts the
 * program.
 * Call from: the pump's thread.  Blocks: the thread, while the pump is empty.
 * Returns: 0; the first error of the job, its children or its dependencies.
 *     -ECANCELED: the job was cancelled.
 *     -EINVAL: p or job is NULL.
 *     -ETIMEDOUT: filch_pump_wait_until: the deadline passed. */
FILCH_API int filch_pump_wait(filch_pump *p, filch_job *job);
FILCH_API int filch_pump_wait_until(filch_pump *p, filch_job *job, int64_t deadline);

FILCH_END_DECLS

#endif
