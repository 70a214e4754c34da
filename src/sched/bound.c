#include "sched/bound.h"

static bool is_lent(fi_worker *w)
{
    return fi_load_relaxed(&w->sleeper.asleep) == FI_LENT;
}

static uint32_t n_bound(fi_worker *w)
{
    return fi_load_relaxed(&w->sleeper.n_bound);
}

/* The worker of the next bound fiber: not a lent one if there is another, then the one with the
 * fewest bound fibers, then in turn. */
static fi_worker *least_bound(fi_runtime *rt, bool *lent_too)
{
    unsigned at = fi_fetch_add_relaxed(&rt->bound_turn, 1u) % rt->n_workers;
    fi_worker *best = NULL;

    for (unsigned i = 0; i < rt->n_workers; i++) {
        fi_worker *w = &rt->workers[(at + i) % rt->n_workers];
        bool lent = is_lent(w);
        if (!best || (lent == *lent_too ? n_bound(w) < n_bound(best) : !lent)) {
            best = w;
            *lent_too = lent;
        }
    }
    return best;
}

/* A worker that is lent meanwhile is not chosen. */
static fi_worker *choose_worker(fi_runtime *rt)
{
    fi_worker *w;
    bool lent_too = true;

    do
        w = least_bound(rt, &lent_too);
    while (!fi_idle_bind(&rt->idle, &w->sleeper, lent_too));
    return w;
}

/* Relaxed: a fiber is made ready only after it has run, and so after this. */
static void watch_for_bound(fi_runtime *rt)
{
    for (unsigned i = 0; i < rt->n_workers; i++) {
        FI_ATOMIC(uint32_t) *mask = &rt->workers[i].ready_mask;
        uint32_t hooks = fi_load_relaxed(mask);
        if (!(hooks & FI_HOOK_BOUND))
            fi_store_relaxed(mask, hooks | FI_HOOK_BOUND);
    }
}

void fi_bound_submit(fi_runtime *rt, fi_runnable *r)
{
    watch_for_bound(rt);
    fi_bound_push(choose_worker(rt), r);
}

void fi_bound_begin(fi_fiber *f)
{
    fi_store_relaxed(&f->bound, f->worker->index + 1);
}

void fi_bound_end(fi_fiber *f)
{
    fi_store_relaxed(&f->bound, 0u);
    fi_idle_unbind(&f->worker->runtime->idle, &f->worker->sleeper);
}

void fi_bound_push(fi_worker *w, fi_runnable *r)
{
    fi_shared_queue_push(&w->bound_ready, r);
    if (w != fi_worker_self())
        fi_idle_wake_this(&w->runtime->idle, &w->sleeper);
}

fi_runnable *fi_bound_take_slow(fi_worker *w)
{
    fi_runnable *r = w->attached->is_borrower ? NULL : fi_shared_queue_pop(&w->bound_ready);

    if (r) {
        w->sched_tick_at = fi_load_relaxed(&w->tick);
        w->pick_first |= FI_PICK_BOUND;
    }
    return r;
}
