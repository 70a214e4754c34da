/* Groups: functions without a handle, and waiting for them.  Each function is a small record in a
 * queue, which is freed before the function runs. */
#include "job/group.h"

#include "job/job.h"
#include "sched/runtime.h"
#include "sched/span.h"
#include "sched/tracepoint.h"
#include "wait/parking_lot.h"
#include "wait/waitq.h"

#include <errno.h>
#include <stddef.h>

_Static_assert(sizeof(fi_group) == sizeof(filch_group), "one layout");
_Static_assert(offsetof(fi_group, pending) == offsetof(filch_group, state_), "one layout");
_Static_assert(offsetof(fi_group, flags) == offsetof(filch_group, flags_), "one layout");

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

void fi_group_cancel(fi_group *g)
{
    uint32_t seen = fi_load_relaxed(&g->flags);

    while (!(seen & FI_GROUP_CANCELLED) &&
           !fi_cas_relaxed(&g->flags, &seen, seen | FI_GROUP_CANCELLED))
        continue;
}

void fi_group_fail(fi_group *g, int error)
{
    int32_t none = 0;

    if (error == 0)
        return;
    fi_cas_relaxed(&g->error, &none, error);
    if (fi_load_relaxed(&g->flags) & FI_GROUP_CANCELS_ON_ERROR)
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
    fi_group *g = f->deferred.object;
    uint32_t n = f->deferred.n;

    f->deferred.run = NULL;
    f->deferred.n = 0;
    if (f->worker->runtime->in_fork_child)
        return;
    fi_fiber_flush(f); /* a waiter may read the counters next */
    FI_SPAN(suspend(true));
    fi_pending_done(g, n);
    FI_SPAN(suspend(false));
}

void fi_group_flush_deferred(fi_group *g, fi_fiber *f)
{
    if (f->deferred.run && f->deferred.object != g)
        group_flush(f);
}

void fi_group_done_deferred(fi_group *g, fi_fiber *f)
{
    f->deferred.run = group_flush;
    f->deferred.object = g;
    f->deferred.n++;
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
static bool work_begin(fi_group *g, fi_fiber *f, uintptr_t work)
{
    fi_group_flush_deferred(g, f);
    fi_trace_begin(f, FI_WORK_JOB, NULL, work);
    if (!fi_group_is_cancelled(g))
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
    fi_group_done_deferred(g, f);
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
        fi_group_fail(g, -ENOMEM);
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

static int group_run(fi_group *g, runner *how, work_function work, void *arg)
{
    fi_wait_chaos();
    fi_worker *w = fi_worker_self();
    fi_runtime *rt;
    int e;

    if (w)
        return group_submit(w->runtime, w, g, how, work, arg);
    rt = fi_runtime_enter();
    e = group_submit(rt, NULL, g, how, work, arg);
    fi_runtime_leave(rt);
    return e;
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

int fi_group_wait(fi_group *g, bool cancellable, int64_t deadline_ns)
{
    fi_wait_reason what = {"group", g};

    fi_wait_chaos();
    while (!fi_pending_is_done(&g->pending)) {
        int e = fi_pending_set_waiters(&g->pending)
                    ? fi_parking_lot_wait(what, !cancellable, group_has_waiters, g, deadline_ns)
                    : 0;
        if (e < 0)
            return e;
    }
    FI_SPAN(collect(g));
    return 0;
}

/* Reset the group for its next use, and return its result. */
static int group_reset(fi_group *g)
{
    int error = fi_load_relaxed(&g->error);
    uint32_t flags = fi_load_relaxed(&g->flags);

    fi_pending_clear_waiters(&g->pending);
    if (error != 0)
        fi_store_relaxed(&g->error, 0);
    if (flags & FI_GROUP_CANCELLED)
        fi_store_relaxed(&g->flags, flags & ~(uint32_t)FI_GROUP_CANCELLED);
    return error != 0 ? error : flags & FI_GROUP_CANCELLED ? -ECANCELED : 0;
}

/* Without a deadline the wait cannot be cancelled, as members may use the stack of the caller. */
int filch_group_wait_until(filch_group *g, int64_t deadline)
{
    int e = fi_group_wait(fi_group_of(g), deadline != INT64_MAX, deadline);

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
    return fi_group_is_cancelled(fi_group_of(g));
}

size_t filch_group_dropped(const filch_group *g)
{
    return fi_load_relaxed(&fi_group_of(g)->dropped);
}
