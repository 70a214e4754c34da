#include "sched/timers.h"

#include "base/clock.h"
#include "sched/tracepoint.h"

/* A worker with work leaves the timers of another worker alone for this long.  That worker looks at
 * them every few picks, and two workers at one heap slow each other down. */
#define LATE_NS 100000

static int64_t read_clock(fi_runtime *rt)
{
    int64_t now = fi_clock_now();

    fi_store_relaxed(&rt->coarse_now_ns, now);
    return now;
}

static void fire_due(fi_worker *w, fi_timer_heap *heap, int64_t now)
{
    if (fi_timer_heap_next(heap) > now || fi_load_relaxed(&w->runtime->timers_stopped))
        return;
    fi_trace_timers(w);
    fi_timer_heap_fire(heap, now);
    fi_trace_timers_end(w);
}

/* Removed timers matter only in the heap with the first deadline. */
int64_t fi_timers_first_live(fi_runtime *rt)
{
    for (;;) {
        fi_timer_heap *first = &rt->workers[0].timers;
        int64_t next;
        for (unsigned i = 1; i < rt->n_workers; i++)
            if (fi_timer_heap_next(&rt->workers[i].timers) < fi_timer_heap_next(first))
                first = &rt->workers[i].timers;
        next = fi_timer_heap_next(first);
        if (next == FI_TIMER_NEVER || fi_timer_heap_first_live(first) <= next)
            return next;
    }
}

/* The heaps of all workers in turn.  It may be the own one. */
static fi_timer_heap *next_heap(fi_worker *w)
{
    if (++w->timer_turn >= w->runtime->n_workers)
        w->timer_turn = 0;
    return &w->runtime->workers[w->timer_turn].timers;
}

void fi_timers_fire_own(fi_worker *w)
{
    fire_due(w, &w->timers, read_clock(w->runtime));
}

void fi_timers_fire_late(fi_worker *w)
{
    fi_timer_heap *heap = next_heap(w);

    if (fi_timer_heap_next(heap) != FI_TIMER_NEVER)
        fire_due(w, heap, read_clock(w->runtime) - LATE_NS);
}

void fi_timers_fire_all(fi_worker *w)
{
    fi_runtime *rt = w->runtime;
    int64_t now;

    if (fi_timers_next(rt) == FI_TIMER_NEVER)
        return;
    now = read_clock(rt);
    for (unsigned i = 0; i < rt->n_workers; i++)
        fire_due(w, &rt->workers[i].timers, now);
}
