/* The workers continue meanwhile, so the values of two workers or fibers may be from different
 * times. */
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

/* The worker may switch to another fiber meanwhile; the name is then of either. */
static void copy_running_name(fi_worker *w, char *name)
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
    copy_running_name(w, out->runs);
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

typedef struct fiber_visit {
    fi_runtime *rt;
    filch_top *page;
} fiber_visit;

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

/* The rank of a wait among the longest ones; FILCH_TOP_WAITS: it is shorter than all. */
static int wait_rank(const filch_top *page, int64_t for_ns)
{
    int i = FILCH_TOP_WAITS;

    while (i > 0 && (page->wait[i - 1].fiber == 0 || page->wait[i - 1].for_ns < for_ns))
        i--;
    return i;
}

static void insert_if_long(filch_top *page, const fi_fiber *f, const fi_waiter *wait)
{
    int64_t for_ns = page->now_ns > wait->since_ns ? page->now_ns - wait->since_ns : 0;
    int at = wait_rank(page, for_ns);
    filch_top_wait *to = &page->wait[at];

    if (at == FILCH_TOP_WAITS)
        return;
    memmove(to + 1, to, sizeof *to * (size_t)(FILCH_TOP_WAITS - 1 - at));
    *to = (filch_top_wait){
        .fiber = (uintptr_t)f, .object = (uintptr_t)wait->reason.object, .for_ns = for_ns};
    snprintf(to->what, sizeof to->what, "%s", wait->reason.kind);
    fi_dump_name(f, to->name, sizeof to->name);
}

static void visit_fiber(fi_fiber *f, void *ctx)
{
    fiber_visit *v = ctx;
    const fi_waiter *wait;
    const fi_worker *on;

    if (!fi_load_relaxed(&f->busy))
        return;
    on = fi_fiber_freeze_in(v->rt, f, &wait);
    if (on) {
        v->page->running++;
    } else if (!wait || fi_waiter_is_done(wait)) {
        v->page->ready++;
    } else {
        v->page->waiting++;
        count_kind(v->page, wait->reason.kind);
        insert_if_long(v->page, f, wait);
    }
    fi_fiber_thaw(f);
}

static void fill_fibers(fi_runtime *rt, filch_top *page)
{
    fiber_visit v = {rt, page};

    page->running = page->ready = page->waiting = page->other_kinds = 0;
    memset(page->kind, 0, sizeof page->kind);
    memset(page->wait, 0, sizeof page->wait);
    fi_fiber_foreach(rt, visit_fiber, &v);
}

void fi_top_snapshot(fi_runtime *rt, filch_top *page, uint32_t part)
{
    page->now_ns = fi_clock_now();
    fill_workers(rt, page);
    if (part == FILCH_TOP_ALL)
        fill_fibers(rt, page);
}
