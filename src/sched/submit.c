/* Submission of work: on a worker, or from another thread. */
#include "sched/bound.h"
#include "sched/runtime.h"
#include "sched/span.h"
#include "sched/tracepoint.h"

/* A runtime of one worker has no sleepers while that worker runs. */
void fi_notify(fi_worker *w)
{
    if (w->runtime->n_workers > 1 && fi_idle_notify(&w->runtime->idle))
        fi_count(&w->counters.wakes);
}

/* No worker is woken for a fiber that this worker will take itself, if a watchdog runs to detect
 * when it does not. */
static inline __attribute__((always_inline)) void push_next(fi_worker *w, fi_runnable *r)
{
    bool displaced = fi_runq_push_next(&w->ready, fi_worker_lock_id(w), r);

    if (FI_UNLIKELY(displaced || !fi_runq_owner_takes_next(&w->ready) ||
                    !fi_load_relaxed(&w->runtime->watchdog.running)))
        fi_notify(w);
}

void fi_submit_external(fi_runtime *rt, fi_runnable *r)
{
    uint32_t turn = fi_fetch_add_relaxed(&rt->inbox_turn, 1);

    FI_SPAN(inherit(r));
    fi_shared_queue_push(&rt->workers[turn % rt->n_workers].inbox, r);
    fi_idle_notify(&rt->idle);
}

/* The fiber keeps the runtime alive, but only until it ends. */
static __attribute__((noinline)) void ready_external(fi_fiber *f)
{
    fi_runtime *rt = f->worker->runtime;

    fi_runtime_enter_unchecked();
    fi_trace_ready_external(rt, f);
    if (fi_fiber_is_bound(f))
        fi_bound_push(f->worker, &f->ready);
    else
        fi_submit_external(rt, &f->ready);
    fi_runtime_leave(rt);
}

/* There is a trace, or there are bound fibers. */
static __attribute__((noinline, cold)) void ready_slow(fi_worker *w, fi_fiber *f)
{
    fi_trace_record_ready(w, f);
    if (fi_fiber_is_bound(f))
        fi_bound_push(f->worker, &f->ready);
    else
        push_next(w, &f->ready);
}

void fi_ready(fi_fiber *f)
{
    fi_worker *w = fi_worker_self();

    if (FI_UNLIKELY(!w))
        ready_external(f);
    else if (fi_trace_ready(w, f))
        ready_slow(w, f);
    else
        push_next(w, &f->ready);
}

/* No worker is woken for the only work that waits here, if this worker will take it itself. */
static void notify_unstarted(fi_worker *w)
{
    if (FI_UNLIKELY(fi_worker_offers_unstarted(w)))
        fi_worker_restart_streak(w);
    if (!fi_worker_takes_unstarted(w) || fi_deque_size(w->deque) != 1 ||
        fi_runq_size(&w->ready) > 0)
        fi_notify(w);
}

void fi_submit_local(fi_worker *w, fi_runnable *r)
{
    fi_trace_submit(w, r);
    fi_worker_push_unstarted(w, r);
    if (w->runtime->n_workers > 1)
        notify_unstarted(w);
}

void fi_submit_priority(fi_runtime *rt, fi_shared_queue *which, fi_runnable *r)
{
    FI_SPAN(inherit(r));
    fi_shared_queue_push(which, r);
    fi_idle_notify(&rt->idle);
}
