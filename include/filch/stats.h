/* What the workers did, counted.
 *
 *     #include <filch/runtime.h>
 *     #include <filch/stats.h>
 *     #include <stdio.h>
 *
 *     int main(void)
 *     {
 *         filch_stats s;
 *         if (filch_start(NULL) < 0 || filch_stats_get(&s) < 0)
 *             return 1;
 *         printf("%u workers, %llu tasks spawned\n", s.workers, (unsigned long long)s.total.spawned);
 *         return filch_stop() == 0 ? 0 : 1;
 *     }
 *
 * Each worker counts for itself and nobody else writes there, so counting costs no traffic between
 * processors.  Numbers of a busy worker lag behind: what a task did on its own is added when its
 * fiber next comes by the scheduler, at the latest when it ends.
 *
 * Counting every spawn would make the smallest tasks a fifth slower, so spawned and run_inline count only
 * what is spawned in files that are compiled with FILCH_COUNT_SPAWNS defined, or without optimisation.
 */
#ifndef FILCH_STATS_H
#define FILCH_STATS_H

#include <filch/version.h>

#include <stdint.h>

FILCH_BEGIN_DECLS

typedef struct filch_counters {
    uint64_t spawned;             /* tasks spawned (see above) */
    uint64_t run_inline;          /* of these: run by their sync */
    uint64_t published;           /* tasks made stealable */
    uint64_t claimed_back;        /* of the published: run by their sync after all */
    uint64_t steals_single;       /* visits to another worker that brought one piece of work */
    uint64_t steals_multiple;     /* visits that brought several */
    uint64_t steals_failed;       /* visits that brought nothing */
    uint64_t stolen;              /* pieces of work that all these visits brought */
    uint64_t deque_pushes;        /* pieces of work put into the worker's deque */
    uint64_t deque_pops;          /* taken out again by the worker itself */
    uint64_t deque_pops_failed;   /* times it looked there and got nothing */
    uint64_t deque_steals_single; /* visits to another's deque that brought one */
    uint64_t deque_steals_single_failed;   /* that found nothing, or lost the one that was there */
    uint64_t deque_steals_multiple;        /* that brought several */
    uint64_t deque_steals_multiple_failed; /* that lost several to somebody faster */
    uint64_t deque_stolen;                 /* pieces of work that all these visits brought */
    uint64_t deque_resizes;                /* times the worker's deque grew */
    uint64_t
        deque_bottom_incs; /* times the owner's end of it was raised: a put, or a take that failed */
    uint64_t deque_bottom_decs; /* times it was lowered; never where it is "half" */
    uint64_t parks;             /* fibers that parked */
    uint64_t wakes;             /* sleeping workers that this one woke */
    uint64_t sleeps;            /* times the worker went to sleep, or was about to */
    uint64_t searches;          /* times the worker began to look for work at others */
    uint64_t jobs;              /* jobs and pieces of groups' work that ended */
    uint64_t fibers;            /* fibers that were started by name, and ended */
    uint64_t long_runs; /* times one fiber kept the worker longer than filch_config.watchdog_ns */
    uint64_t fibers_created; /* fibers made anew */
    uint64_t fibers_reused;  /* fibers that had run something before */
} filch_counters;

typedef struct filch_stats {
    unsigned workers;
    filch_counters total; /* of all workers, since the runtime was started */
} filch_stats;

/* All workers together.
 * Call from: any thread or fiber, not from a signal handler.  Blocks: the thread, while the runtime is being
 * started or stopped.  Returns: 0; -ESRCH while no runtime runs. */
FILCH_API int filch_stats_get(filch_stats *stats);

/* One worker, the first is 0.
 * Call from: any thread or fiber, not from a signal handler.  Blocks: the thread, while the runtime is being
 * started or stopped.  Returns: 0; -ESRCH while no runtime runs; -EINVAL when
 * there is no such worker. */
FILCH_API int filch_stats_worker(unsigned worker, filch_counters *counters);

/* What the counters are called, one after the other, as in filch_counters; NULL when there are no more.  Its value.
 * Call from: anywhere.  Blocks: never.  Returns: see above; 0 for a counter that there is not. */
FILCH_API const char *filch_counter_name(unsigned which);
FILCH_API uint64_t filch_counter_value(const filch_counters *of, unsigned which);

FILCH_END_DECLS

#endif
