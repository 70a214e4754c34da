/* Giving work to the runtime: to the worker we are on, or from outside. */
#include "sched/runtime.h"

void fi_notify(fi_worker *w)
{
    if (fi_idle_notify(&w->runtime->idle))
        fi_count(&w->counters.wakes);
}

/* When the ring is full, half of it goes to the global queue, so that the next puts find room. */
static void spill(fi_worker *w)
{
    size_t n = fi_deque_capacity(w->ring) / 2;
    fi_runnable *r;

    for (; n > 0 && (r = fi_deque_pop(w->ring)) != NULL; n--)
        fi_queue_push(&w->runtime->global, r);
}

void fi_ring_push(fi_worker *w, fi_runnable *r)
{
    w->ring_is_empty = false;
    if (fi_deque_push(w->ring, r) == 0)
        return;
    spill(w);
    if (fi_deque_push(w->ring, r) < 0)
        fi_queue_push(&w->runtime->global, r);
}

static void run_next(fi_worker *w, fi_runnable *r)
{
    fi_runnable *old = fi_next_put(&w->next, r);

    if (old)
        fi_ring_push(w, old);
}

void fi_submit(fi_runtime *rt, fi_runnable *r)
{
    uint32_t turn = fi_fetch_add_relaxed(&rt->inbox_turn, 1);

    fi_queue_push(&rt->workers[turn % rt->workers_n].inbox, r);
    fi_idle_notify(&rt->idle);
}

void fi_ready(fi_runtime *rt, fi_fiber *f)
{
    fi_worker *w = fi_worker_self();

    if (!w) {
        /* The fiber keeps the runtime, but only until it ends. */
        fi_runtime_enter_anyhow();
        fi_submit(rt, &f->ready);
        fi_runtime_leave(rt);
        return;
    }
    run_next(w, &f->ready);
    fi_notify(w);
}

void fi_give(fi_worker *w, fi_runnable *r)
{
    if (fi_deque_push(w->deque, r) < 0)
        fi_queue_push(&w->runtime->global, r);
    fi_notify(w);
}

void fi_give_to(fi_runtime *rt, fi_queue *which, fi_runnable *r)
{
    fi_queue_push(which, r);
    fi_idle_notify(&rt->idle);
}
