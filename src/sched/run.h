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
    fi_seat *seat = w->seat;

    f->worker = w;
    fi_pin_arrive(f, &w->current);
    fi_fork_ask(&f->fork);
    seat->watch->current = &f->mark;
    fi_cxx_swap(seat->cxx, left, &f->cxx);
}

FI_INLINE void fi_run_depart(fi_worker *w, fi_fiber *f)
{
    fi_seat *seat = w->seat;

    fi_cxx_swap(seat->cxx, &f->cxx, &seat->cxx_home);
    seat->watch->current = NULL;
    fi_pin_depart(&w->current);
    if (f->fork.spawned)
        fi_fiber_flush(f);
}

/* [fiber] We go on: what the one before us on this worker has left to do, as it was not over its worker's own stack. */
FI_INLINE void fi_run_resumed(fi_worker *w)
{
    bool (*commit)(fi_fiber *, void *) = w->park_commit;

    if (!commit)
        return;
    w->park_commit = NULL;
    fi_pin_left(&w->leaving);
    FI_COMMITTING(w, true);
    commit(w->parked, w->park_arg);
    FI_COMMITTING(w, false);
    fi_count(&w->counters.parks);
}

/* [fiber] Park: save this point, go back to the worker, and there call commit(arg), which tells
 * whoever will make the fiber ready where it is.  Only there, as the stack is in use until then.  When
 * commit says false, what the fiber waits for has come meanwhile and it goes on at once.  Otherwise it
 * goes on after fi_ready, maybe on another worker. */
FI_INLINE void fi_fiber_park(fi_fiber *f, bool (*commit)(fi_fiber *f, void *arg), void *arg)
{
    fi_worker *w = f->worker;

    w->park_commit = commit;
    w->park_arg = arg;
    fi_ctx_switch(&f->ctx, &w->seat->home);
    fi_run_resumed(f->worker);
}

/* [fiber] A fiber that is ready, if the worker would run it now anyway; else NULL.  In its line there may also be work that
 * never ran, from the global queue: that needs a fiber of its own. */
FI_INLINE fi_runnable *fi_run_next(fi_worker *w)
{
    fi_runtime *rt = w->runtime;
    fi_runnable *r;

    if (w->fair_in == 0 || w->seat->is_guest || fi_queue_size(&rt->urgent) > 0)
        return NULL;
    if (fi_timers_next(&rt->timers) != FI_TIMER_NEVER && w->fair_in % FI_LOOKS_PER_TIME == 0)
        return NULL;
    w->fair_in--;
    fi_store_relaxed(&w->tick, fi_load_relaxed(&w->tick) + 1u);
    r = fi_runq_pop(&w->ready, fi_worker_party(w), false);
    if (r && r->run) {
        w->found = r;
        r = NULL;
    }
    return r;
}

/* [fiber] The same for a commit that always holds on: another fiber that is ready may go on at once, without the way over
 * the worker's own stack, and do the commit there. */
FI_INLINE void fi_fiber_park_on(fi_fiber *f, bool (*commit)(fi_fiber *f, void *arg), void *arg)
{
    fi_worker *w = f->worker;
    fi_runnable *r = fi_run_next(w);

    w->park_commit = commit;
    w->park_arg = arg;
    if (!r) {
        fi_ctx_switch(&f->ctx, &w->seat->home);
    } else {
        fi_fiber *to = fi_fiber_of_ready(r);
        w->parked = f;
        fi_pin_leave(f, &w->leaving);
        if (f->fork.spawned)
            fi_fiber_flush(f);
        fi_run_arrive(w, to, &f->cxx);
        fi_ctx_switch(&f->ctx, &to->ctx);
    }
    fi_run_resumed(f->worker);
}

/* [worker, on its own stack] Run the fiber until it parks or has nothing left to run. */
FI_INLINE void fi_fiber_run(fi_worker *w, fi_fiber *f)
{
    bool (*commit)(fi_fiber *, void *);

    do {
        fi_run_arrive(w, f, &w->seat->cxx_home);
        fi_ctx_switch(&w->seat->home, &f->ctx);
        f = fi_fiber_of_fork(fi_load_relaxed(&w->current)); /* it may have gone on to another */
        fi_run_depart(w, f);
        commit = w->park_commit;
        w->park_commit = NULL;
        if (!commit) {
            fi_fiber_put(w, f);
            return;
        }
        /* From a commit that holds on, f may already run elsewhere. */
    } while (!commit(f, w->park_arg));
    fi_count(&w->counters.parks);
}

/* [worker] A fiber for work that never ran; NULL: there was no memory, and the work is left to others. */
fi_fiber *fi_worker_fiber_for(fi_worker *w, fi_runnable *r);

/* [worker, in the child of a fork] */
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
