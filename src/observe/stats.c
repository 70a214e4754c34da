/* Reads and sums the workers' counters. */
#include "observe/stats.h"

#include "base/message.h"
#include "base/sized.h"
#include "sched/runtime.h"

#include <errno.h>
#include <string.h>

static void add_deque(filch_counters *to, fi_deque *d)
{
    fi_deque_counts *from = fi_deque_counts_of(d);
    uint64_t pushes = fi_counted(&from->pushes);

    to->deque_pops += fi_counted(&from->pops);
    to->deque_pops_failed += fi_counted(&from->pops_failed);
    to->deque_pushes += pushes;
    to->deque_bottom_incs += pushes + fi_counted(&from->bottom_restores);
    to->deque_bottom_decs += fi_counted(&from->bottom_decs);
    to->deque_resizes += fi_counted(&from->resizes);
}

static void add_worker(filch_counters *to, fi_worker *w)
{
    fi_counters *from = &w->counters;

    to->long_runs += fi_counted(&w->n_long_runs);
    to->spawned += fi_counted(&from->spawned);
    to->published += fi_counted(&from->published);
    to->claimed_back += fi_counted(&from->claimed_back);
    to->steals_single += fi_counted(&from->steals_single);
    to->steals_multiple += fi_counted(&from->steals_multiple);
    to->steals_failed += fi_counted(&from->steals_failed);
    to->stolen += fi_counted(&from->stolen);
    to->deque_steals_single += fi_counted(&from->deque_steals_single);
    to->deque_steals_single_failed += fi_counted(&from->deque_steals_single_failed);
    to->deque_steals_multiple += fi_counted(&from->deque_steals_multiple);
    to->deque_steals_multiple_failed += fi_counted(&from->deque_steals_multiple_failed);
    to->deque_stolen += fi_counted(&from->deque_stolen);
    add_deque(to, w->deque);
    to->parks += fi_counted(&from->parks);
    to->wakes += fi_counted(&from->wakes);
    to->sleeps += fi_counted(&from->sleeps);
    to->searches += fi_counted(&from->searches);
    to->jobs += fi_counted(&from->jobs_ended);
    to->fibers += fi_counted(&from->starts_ended);
    to->fibers_created += fi_counted(&from->fibers_created);
    to->fibers_reused += fi_counted(&from->fibers_reused);
}

/* Tasks that were spawned and not stolen.  For one worker this is an estimate, because a fiber may
 * move to another worker between a spawn and its sync. */
static uint64_t run_inline(uint64_t spawned, uint64_t taken)
{
    return spawned > taken ? spawned - taken : 0;
}

int fi_stats_total(fi_runtime *rt, filch_stats *stats)
{
    uint64_t taken = 0;

    if (!rt)
        return -ESRCH;
    memset(stats, 0, sizeof *stats);
    stats->workers = rt->n_workers;
    for (unsigned i = 0; i < rt->n_workers; i++) {
        add_worker(&stats->total, &rt->workers[i]);
        taken += fi_counted(&rt->workers[i].counters.taken);
    }
    stats->total.run_inline = run_inline(stats->total.spawned, taken);
    return 0;
}

int fi_stats_one(fi_runtime *rt, unsigned worker, filch_counters *counters)
{
    if (!rt)
        return -ESRCH;
    if (worker >= rt->n_workers)
        return -EINVAL;
    memset(counters, 0, sizeof *counters);
    add_worker(counters, &rt->workers[worker]);
    counters->run_inline =
        run_inline(counters->spawned, fi_counted(&rt->workers[worker].counters.taken));
    return 0;
}

int filch_stats_get_(filch_stats *stats, size_t size)
{
    filch_stats own;
    int e;

    if (!stats)
        return fi_message_null("filch_stats_get", "stats", "a place for the counters");
    e = fi_stats_total(fi_runtime_lock_running(), &own);
    fi_runtime_unlock_running();
    if (e == 0)
        fi_sized_write(stats, size, &own, sizeof own);
    return e;
}

int filch_stats_worker_(unsigned worker, filch_counters *counters, size_t size)
{
    filch_counters own;
    int e;

    if (!counters)
        return fi_message_null("filch_stats_worker", "counters", "a place for the counters");
    e = fi_stats_one(fi_runtime_lock_running(), worker, &own);
    fi_runtime_unlock_running();
    if (e == -EINVAL)
        return fi_message_invalid("filch_stats_worker: there is no such worker (%u); use less than "
                                  "filch_worker_count()",
                                  worker);
    if (e == 0)
        fi_sized_write(counters, size, &own, sizeof own);
    return e;
}
