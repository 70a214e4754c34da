/* Switches between a worker and its fibers.
 *
 * A processor predicts the target of a return from the calls that it has seen.  A switch breaks
 * this for each function that is active on the side that is left or entered: each return from one
 * of them is mispredicted, which costs about 6 ns.  So on the worker's side no function but the
 * loop itself is active across a switch, and on the fiber's side as few as possible.  That is why
 * all of this is inlined.
 */
#ifndef FI_SCHED_SWITCH_H
#define FI_SCHED_SWITCH_H

#include "sched/fiber_pin.h"
#include "sched/tracepoint.h"
#include "sched/worker.h"

/* A fiber that completes the switch of another fiber must not be made to yield by chaos
 * (base/chaos.h). */
#ifdef FILCH_CHAOS
#define FI_SET_IN_AFTER_SWITCH(w, is) ((w)->in_after_switch = (is))
#else
#define FI_SET_IN_AFTER_SWITCH(w, is) ((void)(w))
#endif

FI_INLINE void fi_switch_enter_fiber(fi_worker *w, fi_fiber *f, fi_cxx_exceptions *left)
{
    fi_worker_thread *thread = w->attached;

    f->worker = w;
    fi_fiber_set_running(f, &w->current);
    fi_task_bounds_request(&f->bounds);
    thread->overflow->current = &f->stack_bounds;
    fi_cxx_exceptions_swap(thread->cxx, left, &f->cxx);
}

FI_INLINE void fi_switch_leave_fiber(fi_worker *w, fi_fiber *f)
{
    fi_worker_thread *thread = w->attached;

    fi_cxx_exceptions_swap(thread->cxx, &f->cxx, &thread->sched_cxx);
    thread->overflow->current = NULL;
    fi_fiber_clear_running(&w->current);
    if (f->bounds.spawned)
        fi_fiber_flush(f);
}

/* [fiber that is about to switch] Set the action:
 * unlock: release the lock, which the fiber holds with this id.
 * call: call the function.  It returns false if the fiber must continue at once.
 * release: the work of the fiber has ended, and the fiber goes back to the cache. */
FI_INLINE void fi_after_switch_unlock(fi_worker *w, fi_biased_lock *lock, uint32_t lock_id)
{
    w->after_switch.kind = FI_AFTER_UNLOCK;
    w->after_switch.lock = lock;
    w->after_switch.lock_id = lock_id;
}

FI_INLINE void fi_after_switch_call(fi_worker *w, bool (*callback)(fi_fiber *f, void *arg),
                                    void *arg)
{
    w->after_switch.kind = FI_AFTER_CALL;
    w->after_switch.callback = callback;
    w->after_switch.arg = arg;
}

FI_INLINE void fi_after_switch_release(fi_worker *w)
{
    w->after_switch.kind = FI_AFTER_RELEASE;
}

/* The actions other than UNLOCK. */
bool fi_after_switch_run_slow(fi_worker *w, fi_fiber *left);

/* [scheduler, or the next fiber] Do the action for the fiber that has left its stack.  False: that
 * fiber continues at once.  Otherwise it may already run elsewhere. */
FI_INLINE bool fi_after_switch_run(fi_worker *w, fi_fiber *left)
{
    if (FI_UNLIKELY(w->after_switch.kind != FI_AFTER_UNLOCK))
        return fi_after_switch_run_slow(w, left);
    fi_biased_lock_unlock(w->after_switch.lock, w->after_switch.lock_id);
    fi_count(&w->counters.parks);
    return true;
}

/* [fiber] The fiber runs again, or for the first time.  If another fiber has switched to it
 * directly and not over the scheduler stack, do the after-switch action of that fiber. */
FI_INLINE void fi_switch_entered(fi_worker *w)
{
    fi_task_bounds *left = fi_load_relaxed(&w->leaving);

    if (FI_LIKELY(left)) {
        fi_fiber_clear_leaving(&w->leaving);
        fi_after_switch_run(w, fi_fiber_of_bounds(left));
    }
}

/* [fiber] Switch to another fiber; NULL: to the scheduler.  The caller has set w->after_switch. */
FI_INLINE void fi_switch_to(fi_worker *w, fi_fiber *f, fi_fiber *to, fi_switch_reason why)
{
    fi_ctx *there = &w->attached->sched_ctx;

    if (FI_LIKELY(to)) {
        fi_trace_switch(w, f, to, why);
        fi_fiber_set_leaving(f, &w->leaving);
        if (FI_UNLIKELY(f->bounds.spawned))
            fi_fiber_flush(f);
        fi_switch_enter_fiber(w, to, &f->cxx);
        there = &to->ctx;
    } else {
        fi_trace_switch_to_sched(w, f, why);
    }
    fi_ctx_switch(&f->ctx, there);
    fi_switch_entered(f->worker);
}

/* [fiber] Park: save this point, switch to the scheduler, and call commit(arg) there.  commit tells
 * the waker where the fiber is.  It is called only there, as the stack of the fiber is in use until
 * then.  If commit returns false, the awaited event has come meanwhile, and the fiber continues at
 * once.  Otherwise it continues after fi_ready, maybe on another worker. */
FI_INLINE void fi_fiber_park(fi_fiber *f, bool (*commit)(fi_fiber *f, void *arg), void *arg)
{
    fi_worker *w = f->worker;

    fi_after_switch_call(w, commit, arg);
    fi_switch_to(w, f, NULL, FI_SWITCH_TASK);
}

/* [fiber] May the fiber itself pick the next one to run?  False: the scheduler must do it, which
 * checks more queues. */
FI_INLINE bool fi_switch_may_pick(fi_worker *w)
{
    uint32_t tick = fi_load_relaxed(&w->tick);

    if (FI_UNLIKELY((int32_t)(tick - w->sched_tick_at) >= 0 ||
                    fi_shared_queue_size(&w->runtime->high_queue) > 0))
        return false;
    fi_store_relaxed(&w->tick, tick + 1u);
    return true;
}

/* [fiber] A fiber for r, or if r is NULL, for other unstarted work.  NULL: none, and
 * w->pending_pick is left to the worker. */
fi_fiber *fi_switch_for_unstarted(fi_worker *w, fi_runnable *r);

/* [fiber] The fiber that the worker would run next; NULL: the scheduler has to find it. */
FI_INLINE fi_fiber *fi_switch_pick_next(fi_worker *w)
{
    fi_runnable *r;

    if (!fi_switch_may_pick(w))
        return NULL;
    r = fi_runq_pop(&w->ready, fi_worker_lock_id(w));
    if (FI_LIKELY(r && !r->run))
        return fi_fiber_of_ready(r);
    return r || w->maybe_unstarted ? fi_switch_for_unstarted(w, r) : NULL;
}

/* [fiber that yields, with an empty run queue] May it continue at once?  It may not while bound
 * fibers are ready or there are timers, which the scheduler takes care of.  The yield counts as two
 * picks, like one over the scheduler, so that the other queues get their turns as often. */
FI_INLINE bool fi_switch_may_continue(fi_worker *w)
{
    if (fi_shared_queue_size(&w->bound_ready) > 0 ||
        fi_timer_heap_next(&w->timers) != FI_TIMER_NEVER)
        return false;
    fi_store_relaxed(&w->tick, fi_load_relaxed(&w->tick) + 1u);
    return true;
}

/* [fiber] The fiber that runs next if f yields.  f itself: its worker has no other work.  Another
 * fiber: f is in the FIFO, and the lock of the run queue is held until f has left its stack.
 * Unstarted work goes before f, and is left to the scheduler. */
FI_INLINE fi_fiber *fi_switch_pick_for_yield(fi_worker *w, fi_fiber *f)
{
    uint32_t lock_id = fi_worker_lock_id(w);
    fi_runnable *r;

    if (w->maybe_unstarted || !fi_switch_may_pick(w))
        return NULL;
    if (fi_runq_size(&w->ready) == 0)
        return fi_switch_may_continue(w) ? f : NULL;
    r = fi_runq_exchange(&w->ready, lock_id, &f->ready);
    if (FI_UNLIKELY(!r))
        return NULL;
    fi_after_switch_unlock(w, &w->ready.lock, lock_id);
    return fi_fiber_of_ready(r);
}

/* [fiber] Park with a commit that always returns true.  Another fiber may be switched to directly,
 * without the scheduler stack, and calls commit there. */
FI_INLINE void fi_fiber_park_on(fi_fiber *f, bool (*commit)(fi_fiber *f, void *arg), void *arg)
{
    fi_worker *w = f->worker;
    fi_fiber *to = fi_switch_pick_next(w);

    fi_after_switch_call(w, commit, arg);
    fi_switch_to(w, f, to, FI_SWITCH_WAIT);
}

/* [fiber, which holds the lock as its worker] The same, but the action is to release the lock. */
FI_INLINE void fi_fiber_park_holding(fi_fiber *f, fi_worker *w, fi_biased_lock *lock)
{
    fi_fiber *to = fi_switch_pick_next(w);

    fi_after_switch_unlock(w, lock, fi_lock_id());
    fi_switch_to(w, f, to, FI_SWITCH_WAIT);
}

/* [worker, on its own stack] Run the fiber until it parks or has nothing left to run. */
FI_INLINE void fi_fiber_run(fi_worker *w, fi_fiber *f)
{
    do {
        fi_trace_run(w, f);
        fi_switch_enter_fiber(w, f, &w->attached->sched_cxx);
        fi_ctx_switch(&w->attached->sched_ctx, &f->ctx);
        f = fi_worker_fiber(w); /* maybe another fiber now */
        fi_switch_leave_fiber(w, f);
    } while (!fi_after_switch_run(w, f));
}

/* [worker] A fiber for unstarted work; NULL: there was no memory, and the work is left to other
 * workers. */
fi_fiber *fi_worker_fiber_for(fi_worker *w, fi_runnable *r);

/* [worker or blocking thread, in the child of a fork] The waiter is in the parent. */
_Noreturn void fi_worker_end_fork_child(void);

/* [worker] Run r on a fiber. */
FI_INLINE void fi_worker_run(fi_worker *w, fi_runnable *r)
{
    fi_fiber *f = r->run ? fi_worker_fiber_for(w, r) : fi_fiber_of_ready(r);

    if (f)
        fi_fiber_run(w, f);
    if (w->runtime->in_fork_child)
        fi_worker_end_fork_child();
}

#endif
