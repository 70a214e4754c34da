/* From a worker to a fiber and back.
 *
 * A processor predicts where a return goes from the calls it has seen.  A switch breaks that for every function that is
 * open on the side that is left or gone to: each return out of one of them is a wrong guess, of some 6 ns.  So on the
 * worker's side nothing is open across a switch but the loop itself, and on the fiber's side as little as can be: all of
 * this is inlined into them.
 */
#ifndef FI_SCHED_RUN_H
#define FI_SCHED_RUN_H

#include "sched/pin.h"
#include "sched/point.h"
#include "sched/wait.h"
#include "sched/worker.h"

#define FI_INLINE static inline __attribute__((always_inline))

/* Where a fiber does what another has left to do, it must not yield by bad luck (base/chaos.h). */
#ifdef FILCH_CHAOS
#define FI_COMMITTING(w, is) ((w)->is_committing = (is))
#else
#define FI_COMMITTING(w, is) ((void)(w))
#endif

FI_INLINE void fi_run_arrive(fi_worker *w, fi_fiber *f, fi_cxx *left)
{
    fi_worker_thread *thread = w->attached;

    f->worker = w;
    fi_pin_arrive(f, &w->current);
    fi_task_bounds_request(&f->bounds);
    thread->overflow->current = &f->mark;
    fi_cxx_swap(thread->cxx, left, &f->cxx);
}

FI_INLINE void fi_run_depart(fi_worker *w, fi_fiber *f)
{
    fi_worker_thread *thread = w->attached;

    fi_cxx_swap(thread->cxx, &f->cxx, &thread->sched_cxx);
    thread->overflow->current = NULL;
    fi_pin_depart(&w->current);
    if (f->bounds.spawned)
        fi_fiber_flush(f);
}

/* [fiber] The same, where it is a call. */
void fi_run_part(fi_worker *w);

/* [fiber] We go on: do what the one before us on this worker has left to do, as it was not over its worker's own stack. */
FI_INLINE void fi_run_resumed(fi_worker *w)
{
    fi_biased_lock *latch = w->parting.latch;

    if (FI_LIKELY(latch)) {
        w->parting.latch = NULL;
        fi_pin_left(&w->leaving);
        fi_biased_lock_unlock(latch, w->parting.who);
        fi_count(&w->counters.parks);
    } else if (w->parting.commit) {
        fi_run_part(w);
    }
}

/* [fiber] Off to another fiber, or home: NULL.  What is left to do is said. */
FI_INLINE void fi_run_away(fi_worker *w, fi_fiber *f, fi_fiber *to, fi_way why)
{
    fi_ctx *there = &w->attached->sched_ctx;

    if (FI_LIKELY(to)) {
        fi_point_away(w, f, to, why);
        w->parting.fiber = f;
        fi_pin_leave(f, &w->leaving);
        if (FI_UNLIKELY(f->bounds.spawned))
            fi_fiber_flush(f);
        fi_run_arrive(w, to, &f->cxx);
        there = &to->ctx;
    } else {
        fi_point_home(w, f, why);
    }
    fi_ctx_switch(&f->ctx, there);
    fi_run_resumed(f->worker);
}

/* [fiber] Park: save this point, go back to the worker, and there call commit(arg), which tells
 * whoever will make the fiber ready where it is.  Only there, as the stack is in use until then.  When
 * commit says false, what the fiber waits for has come meanwhile and it goes on at once.  Otherwise it
 * goes on after fi_ready, maybe on another worker. */
FI_INLINE void fi_fiber_park(fi_fiber *f, bool (*commit)(fi_fiber *f, void *arg), void *arg)
{
    fi_worker *w = f->worker;

    w->parting.commit = commit;
    w->parting.arg = arg;
    fi_run_away(w, f, NULL, FI_WAY_TASK);
}

/* [fiber] May the next look for work be here, and not on the worker's own stack, where more is looked at? */
FI_INLINE bool fi_run_may_look(fi_worker *w)
{
    uint32_t tick = fi_load_relaxed(&w->tick);

    if (FI_UNLIKELY((int32_t)(tick - w->home_at) >= 0 || fi_queue_size(&w->runtime->urgent) > 0))
        return false;
    fi_store_relaxed(&w->tick, tick + 1u);
    return true;
}

/* [fiber] A fiber for this, or if it is NULL, for what else never ran; NULL: there is none, and w->found is for its worker. */
fi_fiber *fi_run_new(fi_worker *w, fi_runnable *r);

/* [fiber] The fiber that the worker would run now anyway; NULL: it has to look itself. */
FI_INLINE fi_fiber *fi_run_next(fi_worker *w)
{
    fi_runnable *r;

    if (!fi_run_may_look(w))
        return NULL;
    r = fi_runq_pop(&w->ready, fi_worker_party(w));
    if (FI_LIKELY(r && !r->run))
        return fi_fiber_of_ready(r);
    return r || w->has_new ? fi_run_new(w, r) : NULL;
}

/* [fiber] The same of those that are ready again. */
FI_INLINE fi_fiber *fi_run_next_ready(fi_worker *w)
{
    return fi_runq_size(&w->ready) > 0 ? fi_run_next(w) : NULL;
}

/* [fiber] The same for one that yields: it is in line then, and the run queue's latch is held.  What never ran goes before it. */
FI_INLINE fi_fiber *fi_run_swap(fi_worker *w, fi_fiber *f)
{
    fi_runnable *r;

    if (w->has_new || !fi_run_may_look(w))
        return NULL;
    r = fi_runq_swap(&w->ready, fi_worker_party(w), &f->ready);
    return r ? fi_fiber_of_ready(r) : NULL;
}

/* [fiber] Park with a commit that always holds on: another fiber may go on at once, without the way over the worker's
 * own stack, and do the commit there. */
FI_INLINE void fi_fiber_park_on(fi_fiber *f, bool (*commit)(fi_fiber *f, void *arg), void *arg)
{
    fi_worker *w = f->worker;
    fi_fiber *to = fi_run_next(w);

    w->parting.commit = commit;
    w->parting.arg = arg;
    fi_run_away(w, f, to, FI_WAY_WAIT);
}

/* [fiber, which holds the latch as its worker] The same, and all there is to do is to let it go. */
FI_INLINE void fi_fiber_park_holding(fi_fiber *f, fi_worker *w, fi_biased_lock *latch)
{
    fi_fiber *to = fi_run_next(w);

    w->parting.latch = latch;
    w->parting.who = fi_lock_id();
    fi_run_away(w, f, to, FI_WAY_WAIT);
}

/* [worker] True: what a fiber that has come home has left to do is done.  False: it goes on at once. */
FI_INLINE bool fi_run_came_home(fi_worker *w, fi_fiber *f)
{
    fi_biased_lock *latch = w->parting.latch;
    bool (*commit)(fi_fiber *, void *) = w->parting.commit;

    if (latch) {
        w->parting.latch = NULL;
        fi_biased_lock_unlock(latch, w->parting.who);
        return true;
    }
    w->parting.commit = NULL;
    return commit(f, w->parting.arg); /* f may already run elsewhere */
}

/* [worker, on its own stack] Run the fiber until it parks or has nothing left to run. */
FI_INLINE void fi_fiber_run(fi_worker *w, fi_fiber *f)
{
    do {
        fi_point_run(w, f);
        fi_run_arrive(w, f, &w->attached->sched_cxx);
        fi_ctx_switch(&w->attached->sched_ctx, &f->ctx);
        f = fi_fiber_of_bounds(fi_load_relaxed(&w->current)); /* it may have gone on to another */
        fi_run_depart(w, f);
        if (!w->parting.latch && !w->parting.commit) {
            fi_fiber_put(w, f);
            return;
        }
    } while (!fi_run_came_home(w, f));
    fi_count(&w->counters.parks);
}

/* [worker] A fiber for work that never ran; NULL: there was no memory, and the work is left to others. */
fi_fiber *fi_worker_fiber_for(fi_worker *w, fi_runnable *r);

/* [worker or spare thread, in the child of a fork] The waiter is in the parent. */
_Noreturn void fi_worker_end_orphan(void);

/* [worker] Run this, on a fiber. */
FI_INLINE void fi_worker_run(fi_worker *w, fi_runnable *r)
{
    fi_fiber *f = r->run ? fi_worker_fiber_for(w, r) : fi_fiber_of_ready(r);

    if (f)
        fi_fiber_run(w, f);
    if (w->runtime->orphaned)
        fi_worker_end_orphan();
}

#endif
