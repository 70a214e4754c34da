/* Makes, submits, runs, finishes, waits for and releases jobs. */
#include "job/job.h"

#include "base/message.h"
#include "sched/span.h"
#include "sched/switch.h"
#include "sched/tracepoint.h"
#include "wait/cancel.h"
#include "wait/parking_lot.h"
#include "wait/waitq.h"

#include <errno.h>
#include <string.h>

_Static_assert(sizeof(fi_job) <= FI_RECORD_SIZE(FI_RECORD_JOB), "a job fits into its record");

/* ---- new and free ---- */

void *fi_job_record_alloc(fi_record_class class)
{
    fi_worker *w = fi_worker_self();
    fi_runtime *rt;
    void *record;

    if (w)
        return fi_record_pool_alloc(&w->records[class]);
    rt = fi_runtime_enter();
    if (!rt)
        return NULL;
    record = fi_record_alloc_external(rt, class);
    fi_runtime_leave(rt);
    return record;
}

void fi_job_record_free(fi_record_class class, void *record)
{
    fi_worker *w = fi_worker_self();
    fi_runtime *rt;

    if (w) {
        fi_record_pool_free(&w->records[class], record);
        return;
    }
    rt = fi_runtime_enter_unchecked();
    if (rt) /* else the record belongs to the runtime of the parent process */
        fi_record_free_external(rt, class, record);
    fi_runtime_leave(rt);
}

static void job_free(fi_job *j)
{
    fi_cancel_end(&j->self_group.scope);
    fi_job_record_free(FI_RECORD_JOB, j);
}

static void job_drop_user(fi_job *j)
{
    if (fi_ref_drop(&j->ref, FI_REF_USER))
        job_free(j);
}

/* Inlined: the call would cost a job 1 percent. */
FI_INLINE fi_job *job_alloc(void)
{
    fi_job *j = fi_job_record_alloc(FI_RECORD_JOB);

    if (!j)
        return NULL;
    if (fi_span_is_on()) {
        fi_span_reset(&j->self_group);
        fi_span_reset(&j->runnable);
    }
    fi_ref_init(&j->ref);
    memset(&j->self_group, 0, sizeof j->self_group);
    fi_store_relaxed(&j->self_group.pending, (uint32_t)(FI_PENDING_ONE | FI_PENDING_OF_JOB));
    fi_store_relaxed(&j->n_blockers, FI_BLOCKERS_UNSUBMITTED);
    fi_store_relaxed(&j->successors.first, NULL);
    fi_store_relaxed(&j->has_dep, 0);
    j->pump = NULL;
    j->name = NULL;
    j->may_fail = false;
    j->priority = FILCH_PRIORITY_NORMAL;
    j->visit = 0;
    return j;
}

static FI_NOINLINE fi_job *work_is_null(const char *function)
{
    fi_message_null(function, "work", "a function");
    return NULL;
}

filch_job *filch_job_new(void (*work)(void *arg), void *arg)
{
    fi_job *j = work ? job_alloc() : work_is_null(__func__);

    if (j) {
        j->work.run = work;
        j->arg = arg;
    }
    return fi_job_handle(j);
}

filch_job *filch_job_new_fallible(int (*work)(void *arg), void *arg)
{
    fi_job *j = work ? job_alloc() : work_is_null(__func__);

    if (j) {
        j->work.try = work;
        j->arg = arg;
        j->may_fail = true;
    }
    return fi_job_handle(j);
}

filch_job *filch_job_new_copy(void (*work)(void *copy), const void *payload, size_t size)
{
    fi_job *j = NULL;

    if (size > FILCH_JOB_PAYLOAD_MAX)
        fi_message_invalid("filch_job_new_copy: size: too large (%zu); use up to %d", size,
                           FILCH_JOB_PAYLOAD_MAX);
    else if (size > 0 && !payload)
        fi_message_null(__func__, "payload", "the bytes to copy");
    else
        j = work ? job_alloc() : work_is_null(__func__);
    if (j) {
        j->work.run = work;
        if (size > 0)
            memcpy(j->payload, payload, size);
        j->arg = j->payload;
    }
    return fi_job_handle(j);
}

int fi_job_is_null(const char *function, const char *argument)
{
    return fi_message_null(function, argument, "a job of filch_job_new");
}

void filch_job_set_name(filch_job *job, const char *name)
{
    if (job)
        fi_job_of(job, __func__)->name = name;
    else
        fi_job_is_null(__func__, "job");
}

void filch_job_set_priority(filch_job *job, filch_priority priority)
{
    if (!job)
        fi_job_is_null(__func__, "job");
    else if ((unsigned)priority > FILCH_PRIORITY_LOW)
        fi_message_invalid("filch_job_set_priority: not a filch_priority (%d); use a constant of "
                           "that type",
                           (int)priority);
    else
        fi_job_of(job, __func__)->priority = (uint8_t)priority;
}

filch_group *filch_job_child_group(filch_job *job)
{
    if (job)
        return (filch_group *)(void *)&fi_job_of(job, __func__)->self_group;
    fi_job_is_null(__func__, "job");
    return NULL;
}

/* A job that is done may keep its run's reference for a moment, so its group is checked as well. */
void fi_job_check_running(const filch_job *job, const char *function)
{
    fi_job *j = fi_tag_record(job);
    uint32_t seen = fi_load_relaxed(&j->ref);
    bool is_it = fi_tag_is_of(job, fi_ref_generation_in(seen)) && (seen & FI_REF_RUN);

    if (!is_it || fi_load_relaxed(&j->self_group.pending) < FI_PENDING_ONE)
        fi_fatal("%s: " FI_JOB_STALE, function);
}

/* ---- submit ---- */

static void run_job(fi_runnable *r, fi_fiber *f);

static void job_push(fi_runtime *rt, fi_worker *w, fi_job *j)
{
    if (w)
        fi_count(&w->counters.jobs_given);
    else
        fi_fetch_add_relaxed(&rt->n_external_submits, UINT64_C(1));
    if (j->priority != FILCH_PRIORITY_NORMAL)
        fi_submit_priority(rt,
                           j->priority == FILCH_PRIORITY_HIGH ? &rt->high_queue : &rt->low_queue,
                           &j->runnable);
    else if (w)
        fi_submit_local(w, &j->runnable);
    else
        fi_submit_external(rt, &j->runnable);
}

void fi_job_queue(fi_job *j)
{
    fi_worker *w = fi_worker_self();
    fi_group *parent_group = fi_job_parent_group(j);
    fi_runtime *rt;

    j->runnable.run = run_job;
    j->runnable.stack = NULL;
    j->runnable.wait_key = parent_group ? parent_group : &j->self_group;
    if (j->pump) {
        fi_pump_push(j->pump, j);
    } else if (w) {
        job_push(w->runtime, w, j);
    } else {
        rt = fi_runtime_enter_unchecked();
        if (rt) /* else the job belongs to the parent process, which alone can run it */
            job_push(rt, NULL, j);
        fi_runtime_leave(rt);
    }
}

/* A job that is still blocked may be done and freed as soon as it was submitted. */
int fi_job_submit(fi_job *j)
{
    fi_submission s;

    if (fi_blockers_are_submitted(&j->n_blockers))
        return -EBUSY;
    if (fi_job_parent_group(j))
        fi_ref_hand_over(&j->ref);
    s = fi_blockers_submit(&j->n_blockers);
    if (s == FI_SUBMITTED_READY)
        fi_job_queue(j);
    return s == FI_SUBMITTED_BEFORE ? -EBUSY : 0;
}

int filch_job_submit(filch_job *job)
{
    fi_wait_chaos();
    fi_job *j = fi_job_of(job, __func__);

    return j ? fi_job_submit(j) : fi_job_is_null(__func__, "job");
}

/* ---- run ---- */

static bool job_is_cancelled(fi_job *j)
{
    return fi_cancel_is_cancelled(&j->self_group.scope);
}

/* The job may be cancelled through its group alone.  Its children must be cancelled as well. */
static void job_drop_work(fi_job *j)
{
    fi_group *parent_group = fi_job_parent_group(j);

    fi_group_cancel(&j->self_group);
    if (parent_group)
        fi_group_drop(parent_group);
}

void fi_job_run_work(fi_job *j)
{
    if (job_is_cancelled(j))
        job_drop_work(j);
    else if (j->may_fail)
        fi_group_fail(&j->self_group, j->work.try(j->arg));
    else
        j->work.run(j->arg);
}

/* ---- finish ---- */

int fi_job_result(fi_job *j)
{
    int error = fi_load_relaxed(&j->self_group.error);

    return error != 0 ? error : fi_group_is_cancelled(&j->self_group) ? -ECANCELED : 0;
}

/* A successor may be freed as soon as it was unblocked, and its first edge with it. */
static void unblock_successors(fi_job *j, int error)
{
    fi_dep *dep = fi_successors_close(&j->successors);

    while (dep) {
        fi_dep *next = dep->next;
        fi_job *successor = dep->successor;
        fi_dep_free(dep);
        if (error != 0)
            fi_group_fail(&successor->self_group, error);
        FI_SPAN(merge(&j->self_group, &successor->runnable));
        if (fi_blockers_remove(&successor->n_blockers))
            fi_job_queue(successor);
        dep = next;
    }
}

fi_group *fi_job_finish(fi_job *j)
{
    fi_group *parent_group = fi_job_parent_group(j);
    int error;

    fi_pending_acquire(&j->self_group.pending);
    if (job_is_cancelled(j))
        (void)fi_cancel_begin(&j->self_group.scope); /* its parent or group may end before a wait */
    error = fi_job_result(j);
    unblock_successors(j, error);
    if (parent_group)
        FI_SPAN(merge(&j->self_group, parent_group));
    if (parent_group && error != -ECANCELED)
        fi_group_fail(parent_group, error);
    if (fi_ref_drop_run(&j->ref))
        job_free(j);
    return parent_group;
}

/* Many children of one parent end one after the other.  Their ends are counted together. */
static void run_job(fi_runnable *r, fi_fiber *f)
{
    fi_job *j = (fi_job *)(void *)r;
    fi_group *parent_group;

    fi_group_flush_deferred(fi_job_parent_group(j), f);
    fi_trace_begin(f, FI_WORK_JOB, j->name, (uintptr_t)j->work.run);
    f->cancel.job = &j->self_group.scope;
    fi_job_run_work(j);
    if (f->worker->runtime->in_fork_child)
        return; /* the parent of the fork() ends it */
    if (f->at_end)
        fi_fiber_run_at_end(f); /* before waiters go on */
    f->cancel.job = NULL;
    FI_SPAN(join(&j->self_group));
    fi_count(&f->worker->counters.jobs_ended);
    parent_group = fi_members_done(&j->self_group, 1);
    if (parent_group)
        fi_group_done_deferred(parent_group, f);
}

/* f->work is NULL in a function of a group, and may be a ticket. */
filch_job *filch_job_self(void)
{
    fi_fiber *f = fi_fiber_self();

    if (!f)
        return fi_job_handle(fi_pump_running());
    return f->work && f->work->run == run_job ? fi_job_handle((fi_job *)(void *)f->work) : NULL;
}

/* ---- wait ---- */

static bool job_is_done(fi_job *j)
{
    return fi_pending_is_done(&j->self_group.pending);
}

bool filch_job_is_done(const filch_job *job)
{
    if (job)
        return job_is_done(fi_job_of(job, __func__));
    fi_job_is_null(__func__, "job");
    return true;
}

static int job_wait_until(fi_job *j, int64_t deadline)
{
    int e = fi_group_wait(&j->self_group, deadline);

    if (e < 0)
        return e;
    e = fi_job_result(j);
    job_drop_user(j);
    return e;
}

/* A thread that is not a worker keeps the runtime running until it has dropped its reference.
 * Inlined, so that backtraces show the function that the user called. */
FI_INLINE int job_wait_checked(const filch_job *job, int64_t deadline, const char *function)
{
    fi_runtime *rt;
    int e;

    if (!job)
        return fi_job_is_null(function, "job");
    if (fi_worker_self())
        return job_wait_until(fi_job_owned(job, function), deadline);
    rt = fi_runtime_enter_unchecked();
    if (!rt)
        fi_fatal("%s: " FI_JOB_STOPPED, function);
    e = job_wait_until(fi_job_owned(job, function), deadline);
    fi_runtime_leave(rt);
    return e;
}

int filch_job_wait_until(filch_job *job, int64_t deadline)
{
    return job_wait_checked(job, deadline, __func__);
}

int filch_job_wait(filch_job *job)
{
    return job_wait_checked(job, INT64_MAX, __func__);
}

void fi_job_cancel(fi_job *j)
{
    if (!job_is_done(j))
        fi_group_cancel(&j->self_group);
}

void filch_job_cancel(filch_job *job)
{
    fi_wait_chaos();
    if (job)
        fi_job_cancel(fi_job_of(job, __func__));
}

/* Asking also cancels the job's children. */
bool filch_job_is_cancelled(const filch_job *job)
{
    fi_job *j = fi_job_of(job, __func__);
    bool cancelled;

    if (!j) {
        fi_job_is_null(__func__, "job");
        return false;
    }
    cancelled = job_is_cancelled(j);
    if (cancelled)
        fi_group_cancel(&j->self_group);
    return cancelled;
}

/* A job that was not submitted before can never run.  It ends as a cancelled job. */
void filch_job_release(filch_job *job)
{
    fi_job *j = fi_job_owned(job, __func__);

    if (!j)
        return;
    if (!fi_blockers_are_submitted(&j->n_blockers)) {
        bool hands_over = fi_job_parent_group(j);
        fi_job_cancel(j);
        fi_job_submit(j);
        if (hands_over)
            return;
    }
    job_drop_user(j);
}
