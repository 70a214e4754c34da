/* Looking at workers and fibers while they go on: each is looked at for a moment, so the numbers of two of them need not
 * be of the same moment. */
#include "observe/top_snapshot.h"

#include "base/clock.h"
#include "debug/dump.h"
#include "observe/stats.h"
#include "sched/worker.h"
#include "wait/waitq.h"

#include <stdio.h>
#include <string.h>

/* ---- workers ---- */

static filch_top_state state_of(fi_worker *w)
{
    if (fi_load_relaxed(&w->current))
        return FILCH_TOP_BUSY;
    return fi_load_relaxed(&w->sleeper.asleep) == FI_ASLEEP ? FILCH_TOP_ASLEEP
                                                            : FILCH_TOP_SEARCHING;
}

/* The fiber may be another by now, and its name with it. */
static void name_what_runs(fi_worker *w, char *name)
{
    fi_task_bounds *current = fi_task_bounds_load_current(&w->current);

    if (current)
        fi_dump_name(fi_fiber_of_bounds(current), name, FILCH_TOP_TEXT);
    else
        name[0] = '\0';
}

static void fill_worker(fi_runtime *rt, unsigned index, filch_top_worker *out)
{
    fi_worker *w = &rt->workers[index];

    out->state = state_of(w);
    out->caller_runs = fi_load_relaxed(&w->sleeper.asleep) == FI_LENT;
    out->deque = fi_deque_size(w->deque);
    out->ready = fi_runq_size(&w->ready);
    out->inbox = fi_shared_queue_size(&w->inbox);
    name_what_runs(w, out->runs);
    fi_stats_one(rt, index, &out->counters);
}

static void fill_workers(fi_runtime *rt, filch_top *page)
{
    for (unsigned i = 0; i < rt->n_workers; i++)
        fill_worker(rt, i, &page->worker[i]);
    page->shared = fi_shared_queue_size(&rt->global);
    page->high = fi_shared_queue_size(&rt->high_queue);
    page->low = fi_shared_queue_size(&rt->low_queue);
}

/* ---- fibers ---- */

typedef struct look {
    fi_runtime *rt;
    filch_top *page;
} look;

static void count_kind(filch_top *page, const char *what)
{
    for (int i = 0; i < FILCH_TOP_KINDS; i++) {
        filch_top_kind *k = &page->kind[i];
        if (k->fibers == 0)
            snprintf(k->what, sizeof k->what, "%s", what);
        if (strncmp(k->what, what, sizeof k->what - 1) == 0) {
            k->fibers++;
            return;
        }
    }
    page->other_kinds++;
}

/* Where it belongs among the longest; FILCH_TOP_WAITS: nowhere. */
static int place_of(const filch_top *page, int64_t for_ns)
{
    int i = FILCH_TOP_WAITS;

    while (i > 0 && (page->wait[i - 1].fiber == 0 || page->wait[i - 1].for_ns < for_ns))
        i--;
    return i;
}

static void keep_if_long(filch_top *page, const fi_fiber *f, const fi_waiter *wait)
{
    int64_t for_ns = page->now_ns > wait->since_ns ? page->now_ns - wait->since_ns : 0;
    int at = place_of(page, for_ns);
    filch_top_wait *to = &page->wait[at];

    if (at == FILCH_TOP_WAITS)
        return;
    memmove(to + 1, to, sizeof *to * (size_t)(FILCH_TOP_WAITS - 1 - at));
    *to = (filch_top_wait){
        .fiber = (uintptr_t)f, .object = (uintptr_t)wait->reason.object, .for_ns = for_ns};
    snprintf(to->what, sizeof to->what, "%s", wait->reason.kind);
    fi_dump_name(f, to->name, sizeof to->name);
}

static void look_at(fi_fiber *f, void *ctx)
{
    look *l = ctx;
    const fi_waiter *wait;
    const fi_worker *on;

    if (!fi_load_relaxed(&f->busy))
        return;
    on = fi_fiber_freeze_in(l->rt, f, &wait);
    if (on) {
        l->page->running++;
    } else if (!wait || fi_waiter_is_done(wait)) {
        l->page->ready++;
    } else {
        l->page->waiting++;
        count_kind(l->page, wait->reason.kind);
        keep_if_long(l->page, f, wait);
    }
    fi_fiber_thaw(f);
}

static void fill_fibers(fi_runtime *rt, filch_top *page)
{
    look l = {rt, page};

    page->running = page->ready = page->waiting = page->other_kinds = 0;
    memset(page->kind, 0, sizeof page->kind);
    memset(page->wait, 0, sizeof page->wait);
    fi_fiber_foreach(rt, look_at, &l);
}

void fi_top_snapshot(fi_runtime *rt, filch_top *page, uint32_t part)
{
    page->now_ns = fi_clock_now();
    fill_workers(rt, page);
    if (part == FILCH_TOP_ALL)
        fill_fibers(rt, page);
}
