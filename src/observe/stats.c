/* Counters, read from outside. */
#include "observe/stats.h"

#include "sched/runtime.h"

#include <errno.h>
#include <string.h>

static void add(filch_counters *to, fi_worker *w)
{
    fi_counters *from = &w->counters;

    to->held += fi_load_relaxed(&w->held);
    to->spawned += fi_load_relaxed(&from->spawned);
    to->published += fi_load_relaxed(&from->published);
    to->claimed_back += fi_load_relaxed(&from->claimed_back);
    to->steals_single += fi_load_relaxed(&from->steals_single);
    to->steals_multiple += fi_load_relaxed(&from->steals_multiple);
    to->steals_failed += fi_load_relaxed(&from->steals_failed);
    to->stolen += fi_load_relaxed(&from->stolen);
    to->parks += fi_load_relaxed(&from->parks);
    to->wakes += fi_load_relaxed(&from->wakes);
    to->sleeps += fi_load_relaxed(&from->sleeps);
    to->searches += fi_load_relaxed(&from->searches);
    to->jobs += fi_load_relaxed(&from->jobs_ended);
    to->fibers += fi_load_relaxed(&from->starts_ended);
    to->fibers_made += fi_load_relaxed(&from->fibers_made);
    to->fibers_reused += fi_load_relaxed(&from->fibers_reused);
}

/* What was spawned and not run by others.  Of one worker it is a guess: a fiber may have moved between
 * its spawns and the sync that finds a task taken. */
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
    stats->workers = rt->workers_n;
    for (unsigned i = 0; i < rt->workers_n; i++) {
        add(&stats->total, &rt->workers[i]);
        taken += fi_load_relaxed(&rt->workers[i].counters.taken);
    }
    stats->total.run_inline = run_inline(stats->total.spawned, taken);
    return 0;
}

int fi_stats_one(fi_runtime *rt, unsigned worker, filch_counters *counters)
{
    if (!rt)
        return -ESRCH;
    if (worker >= rt->workers_n)
        return -EINVAL;
    memset(counters, 0, sizeof *counters);
    add(counters, &rt->workers[worker]);
    counters->run_inline =
        run_inline(counters->spawned, fi_load_relaxed(&rt->workers[worker].counters.taken));
    return 0;
}

int filch_stats_get(filch_stats *stats)
{
    int e = fi_stats_total(fi_runtime_look(), stats);

    fi_runtime_look_end();
    return e;
}

int filch_stats_worker(unsigned worker, filch_counters *counters)
{
    int e = fi_stats_one(fi_runtime_look(), worker, counters);

    fi_runtime_look_end();
    return e;
}
