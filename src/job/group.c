/* Groups: functions without a handle, and waiting for them.  Each function is a small record in a
 * queue, which is freed before the function runs. */
#include "job/group.h"

#include "job/job.h"
#include "sched/runtime.h"
#include "sched/span.h"
#include "sched/tracepoint.h"
#include "wait/cancel.h"
#include "wait/parking_lot.h"
#include "wait/waitq.h"

#include <errno.h>
#include <stddef.h>

_Static_assert(sizeof(fi_group) == sizeof(filch_group), "one layout");
_Static_assert(offsetof(fi_group, pending) == offsetof(filch_group, state_), "one layout");
_Static_assert(offsetof(fi_group, flags) == offsetof(filch_group, flags_), "one layout");
_Static_assert(offsetof(fi_group, deadline) == offsetof(filch_group, deadline_), "one layout");
_Static_assert(offsetof(fi_group, scope) == 0, "a fiber points to the scope");

typedef union work_function {
    void (*run)(void *arg);
    int (*try)(void *arg);
} work_function;

typedef struct group_work {
    fi_runnable runnable; /* first: queues hold it; its wait_key is the group */
    work_function work;
    void *arg;
} group_work;

_Static_assert(sizeof(group_work) <= FI_RECORD_SIZE(FI_RECORD_SMALL),
               "group work fits into a record");

/* ---- end ---- */

/* [canceller] Count the caller as a member.  A group without members may get some before it is
 * cancelled.  A job that is done gets no more children, and would finish twice. */
static bool group_keep(fi_group *g)
{
    if (fi_pending_try_add(&g->pending))
        return true;
    if (fi_load_relaxed(&g->pending) & FI_PENDING_OF_JOB)
        return false;
    fi_pending_add(&g->pending);
    return true;
}

/* Counts itself as a member: the group exists until its members were interrupted.  In the child of
 * a fork() no other member runs. */
void fi_group_cancel_with(fi_group *g, uint32_t flags)
{
    const fi_worker *w = fi_worker_self();
    bool is_kept = !fi_group_is_cancelled(g) && !(w && w->runtime->in_fork_child) && group_keep(g);

    if (fi_cancel_begin(&g->scope)) {
        if (flags)
            fi_store_relaxed(&g->flags, fi_load_relaxed(&g->flags) | flags);
        if (is_kept)
            fi_cancel_interrupt(&g->scope);
    }
    if (is_kept)
        fi_pending_done(g, 1);
}

void fi_group_cancel(fi_group *g)
{
    fi_group_cancel_with(g, 0);
}

static void group_set_error(fi_group *g, int error)
{
    int32_t none = 0;

    fi_cas_relaxed(&g->error, &none, error);
}

/* A member of a cancelled group returns -ECANCELED because its wait did.  The group of a job may be
 * cancelled through a parent alone. */
void fi_group_fail(fi_group *g, int error)
{
    if (error == 0 || (error == -ECANCELED && fi_cancel_is_cancelled(&g->scope)))
        return;
    group_set_error(g, error);
    fi_group_cancel(g);
}

void fi_group_drop(fi_group *g)
{
    fi_fetch_add_relaxed(&g->dropped, 1u);
}

fi_group *fi_members_done(fi_group *g, uint32_t n)
{
    uint32_t left = fi_pending_sub(&g->pending, n);

    if (left >= FI_PENDING_ONE)
        return NULL;
    if (left & FI_PENDING_WAITERS)
        fi_parking_lot_wake_all(g); /* uses the address alone: the group of a user may be gone */
    return left & FI_PENDING_OF_JOB ? fi_job_finish(fi_job_of_group(g)) : NULL;
}

/* The end of a child may be the end of its parent, and so on: a loop, not a deep stack. */
void fi_pending_done(fi_group *g, uint32_t n)
{
    for (; g; n = 1)
        g = fi_members_done(g, n);
}

static void group_flush(fi_fiber *f)
{
    fi_group *g = (fi_group *)f->deferred.group;
    uint32_t n = f->deferred.n;

    f->deferred.run = NULL;
    f->deferred.group = NULL;
    f->deferred.n = 0;
    if (f->worker->runtime->in_fork_child)
        return;
    fi_fiber_flush(f); /* a waiter may read the counters next */
    FI_SPAN(suspend(true));
    fi_pending_done(g, n);
    FI_SPAN(suspend(false));
}

FI_INLINE void count_deferred(fi_fiber *f)
{
    f->deferred.run = group_flush;
    f->deferred.n++;
}

void fi_group_done_deferred(fi_group *g, fi_fiber *f)
{
    f->deferred.group = &g->scope;
    count_deferred(f);
}

/* ---- run ---- */

/* Copy the record and free it, so that work which this work submits can use it. */
static group_work work_take(fi_runnable *r, fi_fiber *f)
{
    group_work p = *(group_work *)(void *)r;

    fi_record_pool_free(&f->worker->records[FI_RECORD_SMALL], r);
    f->work = NULL;
    return p;
}

/* False: it was cancelled. */
FI_INLINE bool work_begin(fi_group *g, fi_fiber *f, uintptr_t work)
{
    fi_group_flush_deferred(g, f);
    f->deferred.group = &g->scope;
    fi_trace_begin(f, FI_WORK_JOB, NULL, work);
    if (FI_LIKELY(!fi_cancel_is_cancelled(&g->scope)) ||
        (fi_load_relaxed(&g->flags) & FI_GROUP_DROPS_NOTHING))
        return true;
    fi_group_drop(g);
    return false;
}

/* In a fork child the member is not counted: the parent process does that. */
static void work_end(fi_group *g, fi_fiber *f)
{
    if (f->worker->runtime->in_fork_child)
        return;
    FI_SPAN(join(g));
    fi_count(&f->worker->counters.jobs_ended);
    count_deferred(f);
}

static void run_work(fi_runnable *r, fi_fiber *f)
{
    group_work p = work_take(r, f);
    fi_group *g = fi_group_of(p.runnable.wait_key);

    if (work_begin(g, f, (uintptr_t)p.work.run))
        p.work.run(p.arg);
    work_end(g, f);
}

static void run_fallible(fi_runnable *r, fi_fiber *f)
{
    group_work p = work_take(r, f);
    fi_group *g = fi_group_of(p.runnable.wait_key);

    if (work_begin(g, f, (uintptr_t)p.work.try))
        fi_group_fail(g, p.work.try(p.arg));
    work_end(g, f);
}

typedef void runner(fi_runnable *r, fi_fiber *f);

FI_INLINE int group_submit(fi_runtime *rt, fi_worker *w, fi_group *g, runner *how,
                           work_function work, void *arg)
{
    group_work *p = fi_record_alloc(rt, w, FI_RECORD_SMALL);

    if (!p) {
        group_set_error(g, -ENOMEM);
        return -ENOMEM;
    }
    *p = (group_work){{.run = how, .wait_key = g}, work, arg};
    fi_pending_add(&g->pending);
    if (w) {
        fi_count(&w->counters.jobs_given);
        fi_submit_local(w, &p->runnable);
    } else {
        fi_fetch_add_relaxed(&rt->n_external_submits, UINT64_C(1));
        fi_submit_external(rt, &p->runnable);
    }
    return 0;
}

/* No runtime can be started. */
static int group_run_on_thread(fi_group *g, runner *how, work_function work, void *arg)
{
    if (fi_group_is_cancelled(g))
        fi_fetch_add_relaxed(&g->dropped, 1u);
    else if (how == run_work)
        work.run(arg);
    else
        fi_group_fail(g, work.try(arg));
    return 0;
}

static FI_NOINLINE int group_run_slow(fi_group *g, runner *how, work_function work, void *arg)
{
    fi_worker *w = fi_worker_self();
    fi_runtime *rt;
    int e;

    if (w)
        return group_submit(w->runtime, w, g, how, work, arg);
    rt = fi_runtime_enter();
    if (FI_UNLIKELY(!rt))
        return group_run_on_thread(g, how, work, arg);
    e = group_submit(rt, NULL, g, how, work, arg);
    fi_runtime_leave(rt);
    return e;
}

/* The fast path: a worker that has a free record. */
FI_INLINE int group_run(fi_group *g, runner *how, work_function work, void *arg)
{
    fi_wait_chaos();
    fi_worker *w = fi_worker_self();

    if (FI_LIKELY(w && w->records[FI_RECORD_SMALL].free))
        return group_submit(w->runtime, w, g, how, work, arg);
    return group_run_slow(g, how, work, arg);
}

int filch_group_run(filch_group *g, void (*work)(void *arg), void *arg)
{
    return group_run(fi_group_of(g), run_work, (work_function){.run = work}, arg);
}

int filch_group_run_fallible(filch_group *g, int (*work)(void *arg), void *arg)
{
    return group_run(fi_group_of(g), run_fallible, (work_function){.try = work}, arg);
}

/* ---- wait ---- */

static bool group_has_waiters(void *group)
{
    return fi_pending_has_waiters(&((fi_group *)group)->pending);
}

int fi_group_wait(fi_group *g, int64_t deadline_ns)
{
    fi_wait_reason what = {"group", g};
    bool was_passed_on = false;

    fi_wait_chaos();
    while (!fi_pending_is_done(&g->pending)) {
        int e = fi_pending_set_waiters(&g->pending)
                    ? fi_parking_lot_wait(what, was_passed_on, group_has_waiters, g, deadline_ns)
                    : 0;
        if (e < 0 && e != -ECANCELED)
            return e;
        if (e == -ECANCELED && !fi_pending_is_done(&g->pending)) {
            fi_group_cancel(g);
            was_passed_on = true;
        }
    }
    FI_SPAN(collect(g));
    return 0;
}

/* Reset the group for its next use, and return its result. */
static int group_reset(fi_group *g)
{
    int error, cancelled = 0;
    uint32_t flags;

    if (fi_load_relaxed(&g->deadline))
        fi_group_clear_deadline(g);
    error = fi_load_relaxed(&g->error);
    flags = fi_load_relaxed(&g->flags);
    fi_pending_clear_waiters(&g->pending);
    if (error != 0)
        fi_store_relaxed(&g->error, 0);
    if (fi_group_is_cancelled(g)) {
        fi_cancel_end(&g->scope);
        cancelled = flags & FI_GROUP_TIMED_OUT ? -ETIMEDOUT : -ECANCELED;
    }
    if (flags & FI_GROUP_TIMED_OUT)
        fi_store_relaxed(&g->flags, flags & ~(uint32_t)FI_GROUP_TIMED_OUT);
    return error != 0 ? error : cancelled;
}

int filch_group_wait_until(filch_group *g, int64_t deadline)
{
    int e = fi_group_wait(fi_group_of(g), deadline);

    return e < 0 ? e : group_reset(fi_group_of(g));
}

int filch_group_wait(filch_group *g)
{
    return filch_group_wait_until(g, INT64_MAX);
}

void filch_group_cancel(filch_group *g)
{
    fi_wait_chaos();
    fi_group_cancel(fi_group_of(g));
}

bool filch_group_is_cancelled(const filch_group *g)
{
    return fi_cancel_is_cancelled(&fi_group_of(g)->scope);
}

size_t filch_group_dropped(const filch_group *g)
{
    return fi_load_relaxed(&fi_group_of(g)->dropped);
}
