/* Bound fibers: fibers that stay on one thread, for libraries with thread-local state.
 *
 * A bound fiber gets its worker when it is submitted: the one with the fewest bound fibers.  From
 * then on it is only in the queue bound_ready of that worker, and only the worker's own thread
 * takes it from there.  Thieves do not see it.  The thread that makes it ready wakes that worker,
 * if it sleeps (sched/idle.h).  A worker with bound fibers is not lent, and a borrower that gets
 * one for its worker returns the worker at its next pick.
 *
 * Other fibers pay nothing for this.  A fiber that yields puts itself into the run queue, where a
 * thief could take it, but only if it may pick its successor.  A bound fiber may not:
 * fi_bound_take sets sched_tick_at to the current tick, so that each switch of it goes over the
 * scheduler.  And fi_ready tests for bound fibers only after the first one was submitted
 * (ready_mask).
 *
 * Its stack is mapped before it is submitted, so it never waits for memory, from where any worker
 * could take it. */
#ifndef FI_SCHED_BOUND_H
#define FI_SCHED_BOUND_H

#include "sched/worker.h"

/* [any, while the runtime runs] Choose a worker for the start of a bound fiber, and submit it.  Its
 * run function calls fi_bound_begin and fi_bound_end. */
void fi_bound_submit(fi_runtime *rt, fi_runnable *r);

/* [fiber] Its work begins here, and all of it runs on this worker; it ends. */
void fi_bound_begin(fi_fiber *f);
void fi_bound_end(fi_fiber *f);

/* [any thread that keeps the fiber alive] */
static inline bool fi_fiber_is_bound(fi_fiber *f)
{
    return fi_load_relaxed(&f->bound) != 0;
}

/* [any, while the runtime runs] A bound fiber of this worker is ready. */
void fi_bound_push(fi_worker *w, fi_runnable *r);

/* [any] Approximate.  Before a sleep: call after a fence. */
static inline bool fi_bound_has_ready(fi_worker *w)
{
    return fi_shared_queue_size(&w->bound_ready) > 0;
}

/* [worker] A ready bound fiber, to be run next; NULL: none. */
fi_runnable *fi_bound_take_slow(fi_worker *w);
static inline fi_runnable *fi_bound_take(fi_worker *w)
{
    return FI_UNLIKELY(fi_bound_has_ready(w)) ? fi_bound_take_slow(w) : NULL;
}

/* [worker] */
static inline bool fi_bound_has_any(fi_worker *w)
{
    return fi_load_relaxed(&w->sleeper.n_bound) > 0;
}

#endif
