#include "sched/caller_runs.h"
#include "sched/bound.h"
#include "sched/switch.h"

#include "sched/runtime.h"

static fi_worker *borrow_worker(fi_runtime *rt)
{
    fi_sleeper *s = rt->settings.caller_runs ? fi_idle_borrow(&rt->idle) : NULL;

    return s ? (fi_worker *)(void *)((char *)s - offsetof(fi_worker, sleeper)) : NULL;
}

/* Another user of the runtime was counted before its work could be found.  High-priority work is
 * left to the worker's own thread, which gets the worker back at once. */
bool fi_borrower_may_run_other(fi_worker *w, fi_runnable *r)
{
    if (fi_shared_queue_size(&w->runtime->high_queue) == 0 && fi_runtime_is_only_user(w->runtime))
        return true;
    fi_shared_queue_push(&w->runtime->global, r);
    return false;
}

/* Bound fibers run in the worker's own thread, which gets the worker back for them. */
static fi_runnable *find_borrower_work(fi_worker *w, bool *searching)
{
    fi_runnable *r = w->pending_pick;

    w->pending_pick = NULL;
    *searching = false;
    if (!r && !fi_bound_has_ready(w))
        r = fi_find_work_awake(w, searching);
    return r && fi_borrower_may_run(w, r) ? r : NULL;
}

/* A fiber that ended has picked work, and the borrower leaves before it runs that. */
static void return_pending_pick(fi_worker *w)
{
    if (w->pending_pick)
        fi_shared_queue_push(&w->runtime->global, w->pending_pick);
    w->pending_pick = NULL;
}

/* Returns true if the worker is a searcher at the end. */
static bool run_borrowed_worker(fi_worker *w, fi_runnable *r)
{
    bool searching = false;

    while (r) {
        fi_worker_run(w, r);
        r = fi_worker_thread_must_stop(w->attached) ? NULL : find_borrower_work(w, &searching);
    }
    return_pending_pick(w);
    return searching;
}

static void run_as_borrower(fi_worker *w, fi_runnable *r, FI_ATOMIC(uint32_t) * done)
{
    fi_worker_thread thread;
    bool searching;

    fi_worker_thread_init(&thread, &w->borrower_overflow, done);
    thread.is_borrower = true;
    thread.direct_switch_max = 0;
    if (fi_load_relaxed(&w->runtime->watchdog.started))
        thread.clock = fi_thread_clock();
    fi_watchdog_worker_awake(w->runtime);
    fi_worker_attach(w, &thread);
    fi_trace_caller_runs(w);
    searching = run_borrowed_worker(w, r);
    fi_trace_caller_runs_end(w);
    fi_worker_detach();
    fi_worker_thread_fini(&thread);
    fi_worker_return(w, searching);
}

/* A thread that is cancelled in the middle of a task would take the worker with it. */
bool fi_caller_run(fi_runtime *rt, fi_runnable *r, FI_ATOMIC(uint32_t) * done)
{
    fi_worker *w = borrow_worker(rt);
    int cancel;

    if (!w)
        return false;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    run_as_borrower(w, r, done);
    pthread_setcancelstate(cancel, NULL);
    return true;
}
