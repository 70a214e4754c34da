/* The timers of a runtime: one heap per worker (base/timer_heap.h).
 *
 * A worker adds timers to its own heap and fires them, so busy workers do not meet at a lock.  A
 * thread that is not a worker uses the heap of worker 0.  Any worker may fire any timer:
 *   - a worker that runs work looks at its own heap, and seldom at one other heap in turn, of which
 *     it fires only timers that are late.  So the timers of a worker fire even if its fiber does
 *     not return, or its thread does not run;
 *   - a searcher fires the due timers of all heaps;
 *   - the timer sleeper sleeps until the earliest timer of all heaps (sched/idle.h). */
#ifndef FI_SCHED_TIMERS_H
#define FI_SCHED_TIMERS_H

#include "sched/worker.h"

/* [any, while the runtime runs; w: the caller's worker, or NULL] The heap for a new timer. */
static inline fi_timer_heap *fi_timers_heap(fi_runtime *rt, fi_worker *w)
{
    return w ? &w->timers : &rt->workers[0].timers;
}

/* [any, while the runtime runs] Call with the result of fi_timer_heap_add or _add_reserved.  If the
 * timer is the first of its heap, wake a sleeper, unless one sleeps until then or an earlier time.
 * Returns: 0, or the error. */
static inline int fi_timers_added(fi_runtime *rt, int64_t deadline_ns, int result)
{
    if (result <= 0)
        return result;
    fi_idle_notify_timer(&rt->idle, deadline_ns);
    return 0;
}

/* [any, while the runtime runs; w: the caller's worker, or NULL] Add a timer with deadline_ns and
 * fire set, and zeros otherwise.  Returns: 0 or -ENOMEM. */
static inline int fi_timers_add(fi_runtime *rt, fi_worker *w, fi_timer *t)
{
    int64_t deadline_ns = t->deadline_ns; /* it may fire at once */

    return fi_timers_added(rt, deadline_ns, fi_timer_heap_add(fi_timers_heap(rt, w), t));
}

/* [any] The deadline of the first timer of all heaps.  FI_TIMER_NEVER: there is none. */
static inline int64_t fi_timers_next(fi_runtime *rt)
{
    int64_t first = FI_TIMER_NEVER;

    for (unsigned i = 0; i < rt->n_workers; i++) {
        int64_t next = fi_timer_heap_next(&rt->workers[i].timers);
        if (next < first)
            first = next;
    }
    return first;
}

/* [any] The same, without timers that were removed. */
int64_t fi_timers_first_live(fi_runtime *rt);

/* [worker] Fire its due timers.  They make fibers ready on this worker. */
void fi_timers_fire_own(fi_worker *w);
static inline void fi_timers_fire(fi_worker *w)
{
    if (fi_timer_heap_next(&w->timers) != FI_TIMER_NEVER)
        fi_timers_fire_own(w);
}

/* [worker] Fire the timers of the next worker in turn that are late. */
void fi_timers_fire_late(fi_worker *w);

/* [searcher] Fire the due timers of all workers. */
void fi_timers_fire_all(fi_worker *w);

#endif
