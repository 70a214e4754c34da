/* Making jobs, submitting them, running them, ending them, waiting for them. */
#include "job/job.h"

#include "sched/lot.h"
#include "sched/span.h"
#include "sched/switch.h"
#include "sched/tracepoint.h"
#include "sched/wait.h"

#include <errno.h>
#include <string.h>

_Static_assert(sizeof(fi_job) <= FI_LARGE_RECORD, "a job is a large record");

/* ---- make ---- */

static fi_job *make(void)
{
    fi_job *j = fi_job_record_get(true);

    if (!j)
        return NULL;
    FI_SPAN(reset(&j->own));
    FI_SPAN(reset(&j->runnable));
    fi_life_begin(&j->life);
    j->arg = NULL;
    j->in = NULL;
    fi_store_relaxed(&j->own.count, (uint32_t)(FI_COUNT_ONE | FI_COUNT_OF_JOB));
    fi_store_relaxed(&j->own.flags, 0);
    fi_store_relaxed(&j->own.error, 0);
    fi_store_relaxed(&j->own.dropped, 0);
    fi_store_relaxed(&j->in_way, 1); /* its submission */
    fi_store_relaxed(&j->followers.first, NULL);
    fi_store_relaxed(&j->more_links, NULL);
    fi_store_relaxed(&j->has_link, 0);
    fi_store_relaxed(&j->is_submitted, 0);
    j->pump = NULL;
    j->name = NULL;
    j->may_fail = false;
    j->priority = FILCH_PRIORITY_NORMAL;
    j->visit = 0;
    return j;
}

filch_job *filch_job_new(void (*work)(void *arg), void *arg)
{
    fi_job *j = make();

    if (j) {
        j->work.run = work;
        j->arg = arg;
    }
    return fi_job_shown(j);
}

filch_job *filch_job_new_fallible(int (*work)(void *arg), void *arg)
{
    fi_job *j = make();

    if (j) {
        j->work.try = work;
        j->arg = arg;
        j->may_fail = true;
    }
    return fi_job_shown(j);
}

filch_job *filch_job_new_copy(void (*work)(void *copy), const void *payload, size_t size)
{
    fi_job *j = size <= FILCH_JOB_PAYLOAD_MAX ? make() : NULL;

    if (j) {
        j->work.run = work;
        if (size > 0)
            memcpy(j->payload, payload, size);
        j->arg = j->payload;
    }
    return fi_job_shown(j);
}

void filch_job_set_name(filch_job *job, const char *name)
{
    if (job)
        fi_job_of(job, __func__)->name = name;
}

void filch_job_set_priority(filch_job *job, filch_priority priority)
{
    if (job)
        fi_job_of(job, __func__)->priority = (uint8_t)priority;
}

filch_group *filch_job_child_group(filch_job *job)
{
    return job ? (filch_group *)(void *)&fi_job_of(job, __func__)->own : NULL;
}

/* ---- submit ---- */

static void run_job(fi_runnable *r, fi_fiber *f);

static void queue_on(fi_runtime *rt, fi_worker *w, fi_job *j)
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
    fi_runtime *rt;

    j->runnable.run = run_job;
    j->runnable.of = j->in ? j->in : &j->own;
    if (j->pump) {
        fi_pump_put(j->pump, j);
    } else if (w) {
        queue_on(w->runtime, w, j);
    } else {
        rt = fi_runtime_enter_unchecked();
        queue_on(rt, NULL, j);
        fi_runtime_leave(rt);
    }
}

int fi_job_submit(fi_job *j)
{
    uint32_t no = 0;

    if (!fi_cas_relaxed(&j->is_submitted, &no, 1))
        return -EBUSY;
    if (fi_job_parent_of(j))
        fi_life_give_up(&j->life, fi_life_number(&j->life)); /* it is unfinished, and so stays */
    if (fi_way_clear(&j->in_way))
        fi_job_queue(j);
    return 0;
}

int filch_job_submit(filch_job *job)
{
    fi_wait_chaos();
    fi_job *j = fi_job_of(job, __func__);

    return j ? fi_job_submit(j) : -EINVAL;
}

/* ---- run ---- */

static bool is_cancelled(fi_job *j)
{
    return fi_group_is_cancelled(&j->own) || (j->in && fi_group_is_cancelled(j->in));
}

/* Of a job that its group's cancellation reaches, the children are reached by this. */
static void drop(fi_job *j)
{
    fi_group_cancel(&j->own);
    if (j->in)
        fi_group_drop(j->in);
}

void fi_job_work(fi_job *j)
{
    if (is_cancelled(j))
        drop(j);
    else if (j->may_fail)
        fi_group_fail(&j->own, j->work.try(j->arg));
    else
        j->work.run(j->arg);
}

/* ---- end ---- */

int fi_job_result(fi_job *j)
{
    int error = fi_load_relaxed(&j->own.error);

    return error != 0 ? error : fi_group_is_cancelled(&j->own) ? -ECANCELED : 0;
}

/* After a follower was told, it may be over, and its links with it. */
static void tell_followers(fi_job *j, int error)
{
    fi_link *link = fi_links_shut(&j->followers);

    while (link) {
        fi_link *next = link->next;
        fi_job *follower = link->job;
        if (error != 0) {
            fi_group_fail(&follower->own, error);
            fi_group_cancel(&follower->own);
        }
        FI_SPAN(merge(&j->own, &follower->runnable));
        if (fi_way_clear(&follower->in_way))
            fi_job_queue(follower);
        link = next;
    }
}

/* Its group, where it still must be counted down; NULL: it has none. */
static fi_group *end(fi_job *j)
{
    fi_group *in = j->in;
    int error;

    fi_count_see_all(&j->own.count);
    error = fi_job_result(j);
    tell_followers(j, error);
    if (in)
        FI_SPAN(merge(&j->own, in));
    if (in && error != -ECANCELED)
        fi_group_fail(in, error);
    fi_job_drop(j, FI_LIFE_UNFINISHED);
    return in;
}

/* The end of a child may be the end of its parent, and so on: a loop, not a deep stack. */
void fi_job_done(fi_group *own)
{
    fi_group *in;

    while ((in = end(fi_job_of_group(own))) != NULL) {
        uint32_t left = fi_count_down(&in->count, 1);
        if (left >= FI_COUNT_ONE)
            return;
        if (left & FI_COUNT_AWAITED)
            fi_lot_wake_all(in);
        if (!(left & FI_COUNT_OF_JOB))
            return;
        own = in;
    }
}

/* Many children of one parent end one after the other: the parent is told once. */
static void run_job(fi_runnable *r, fi_fiber *f)
{
    fi_job *j = (fi_job *)(void *)r;
    fi_group *in;
    uint32_t left;

    fi_group_begin(j->in, f);
    fi_trace_begin(f, FI_WORK_JOB, j->name, (uintptr_t)j->work.run);
    fi_job_work(j);
    if (f->worker->runtime->in_fork_child)
        return; /* the parent of the fork() ends it */
    if (f->locals)
        fi_fiber_end_locals(f); /* before those who wait for the job go on */
    FI_SPAN(join(&j->own));
    fi_count(&f->worker->counters.jobs_ended);
    left = fi_count_down(&j->own.count, 1);
    if (left >= FI_COUNT_ONE)
        return;
    if (left & FI_COUNT_AWAITED)
        fi_lot_wake_all(&j->own);
    in = end(j);
    if (in)
        fi_group_end_soon(in, f);
}

/* A piece of a group's work has left its fiber nothing; a ticket is no job. */
filch_job *filch_job_self(void)
{
    fi_worker *w = fi_worker_self();
    fi_fiber *f = w ? fi_fiber_of_bounds(fi_load_relaxed(&w->current)) : NULL;

    if (!f)
        return fi_job_shown(fi_pump_running());
    return f->work && f->work->run == run_job ? fi_job_shown((fi_job *)(void *)f->work) : NULL;
}

/* ---- wait ---- */

static bool is_done(fi_job *j)
{
    return fi_count_is_done(&j->own.count);
}

bool filch_job_is_done(const filch_job *job)
{
    return !job || is_done(fi_job_of(job, __func__));
}

/* The waiting fiber may be cancelled, and waits on: -ECANCELED says that the job was, and is released. */
static int wait_until(fi_job *j, int64_t deadline)
{
    int e = fi_group_await(&j->own, false, deadline);

    if (e < 0)
        return e;
    e = fi_job_result(j);
    fi_job_drop(j, FI_LIFE_HELD);
    return e;
}

/* A thread that is not a worker keeps the runtime running until it has given the job up.  Inlined,
 * so that backtraces show the function that the user called. */
FI_INLINE int wait_anywhere(const filch_job *job, int64_t deadline, const char *function)
{
    fi_runtime *rt;
    int e;

    if (!job)
        return -EINVAL;
    if (fi_worker_self())
        return wait_until(fi_job_to_end(job, function), deadline);
    rt = fi_runtime_enter_unchecked();
    if (!rt)
        fi_mistake_in(function, "the runtime of the job was stopped");
    e = wait_until(fi_job_to_end(job, function), deadline);
    fi_runtime_leave(rt);
    return e;
}

int filch_job_wait_until(filch_job *job, int64_t deadline)
{
    return wait_anywhere(job, deadline, __func__);
}

int filch_job_wait(filch_job *job)
{
    return wait_anywhere(job, INT64_MAX, __func__);
}

void fi_job_cancel(fi_job *j)
{
    if (!is_done(j))
        fi_group_cancel(&j->own);
}

void filch_job_cancel(filch_job *job)
{
    fi_wait_chaos();
    if (job)
        fi_job_cancel(fi_job_of(job, __func__));
}

/* Who asks passes it on to his own children. */
bool filch_job_is_cancelled(const filch_job *job)
{
    fi_job *j = fi_job_of(job, __func__);
    bool cancelled = j && is_cancelled(j);

    if (cancelled)
        fi_group_cancel(&j->own);
    return cancelled;
}
