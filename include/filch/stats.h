/* Counters of the workers.
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
 *         printf("%u workers, %llu parks\n", s.workers, (unsigned long long)s.total.parks);
 *         return filch_stop() == 0 ? 0 : 1;
 *     }
 *
 * Each worker writes its own counters, so counting needs no communication between CPUs.  Counters
 * of a busy worker lag.  Those of a task are added when its fiber next enters the scheduler or
 * ends.
 *
 * Counting every spawn would make the smallest tasks a fifth slower.  So spawned and run_inline
 * count only spawns in files that are compiled with FILCH_COUNT_SPAWNS defined, or without
 * optimisation.
 */
#ifndef FILCH_STATS_H
#define FILCH_STATS_H

#include <filch/version.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

FILCH_BEGIN_DECLS

typedef struct filch_counters {
    uint64_t spawned;         /* tasks spawned (see above) */
    uint64_t run_inline;      /* of these: run by their sync, and never published */
    uint64_t published;       /* tasks made stealable */
    uint64_t claimed_back;    /* of the published: run by their sync */
    uint64_t steals_single;   /* steals from another worker that took one piece of work */
    uint64_t steals_multiple; /* steals that took several */
    uint64_t steals_failed;   /* steals that took nothing */
    uint64_t stolen;          /* pieces of work taken by all steals */

    uint64_t deque_pushes;                 /* pieces of work pushed to the worker's deque */
    uint64_t deque_pops;                   /* popped by the worker itself */
    uint64_t deque_pops_failed;            /* pops that found nothing */
    uint64_t deque_steals_single;          /* steals from another deque that took one item */
    uint64_t deque_steals_single_failed;   /* that found nothing, or lost a race for one item */
    uint64_t deque_steals_multiple;        /* that took several items */
    uint64_t deque_steals_multiple_failed; /* that lost a race for several items */
    uint64_t deque_stolen;                 /* items taken by all steals from deques */
    uint64_t deque_resizes;                /* times the deque grew */
    uint64_t deque_bottom_incs;            /* increments of bottom: a push, or a failed pop */
    uint64_t deque_bottom_decs;            /* decrements of bottom */

    uint64_t parks;     /* fibers parked */
    uint64_t wakes;     /* sleeping workers woken by this one */
    uint64_t sleeps;    /* times the worker went to sleep, or was about to */
    uint64_t searches;  /* times the worker started to search for work to steal */
    uint64_t jobs;      /* jobs and pieces of group work that ended */
    uint64_t fibers;    /* fibers of filch_go and filch_fiber_start that ended */
    uint64_t long_runs; /* times a fiber kept the worker longer than filch_config.watchdog_ns */
    uint64_t fibers_created; /* fibers created */
    uint64_t fibers_reused;  /* fibers taken from a cache */
} filch_counters;

typedef struct filch_stats {
    unsigned workers;     /* the number of workers */
    filch_counters total; /* of all workers, since the runtime was started */
} filch_stats;

/* The inline functions pass the size of the struct that the program was compiled with. */
FILCH_API int filch_stats_get_(filch_stats *stats, size_t size);
FILCH_API int filch_stats_worker_(unsigned worker, filch_counters *counters, size_t size);
FILCH_API uint64_t filch_counter_value_(const filch_counters *of, size_t size, unsigned which);

/* Get the counters of all workers together.
 * Call from: any thread or fiber, not a signal handler.  Blocks: the thread, while the runtime is
 *     being started or stopped.
 * Returns: 0.
 *     -ESRCH: the runtime is not running.
 *     -EINVAL: stats is NULL. */
static inline int filch_stats_get(filch_stats *stats)
{
    return filch_stats_get_(stats, sizeof *stats);
}

/* Get the counters of one worker.
 * worker: the index of the worker; the first is 0.
 * Call from: any thread or fiber, not a signal handler.  Blocks: the thread, while the runtime is
 *     being started or stopped.
 * Returns: 0.
 *     -ESRCH: the runtime is not running.
 *     -EINVAL: there is no such worker, or counters is NULL. */
static inline int filch_stats_worker(unsigned worker, filch_counters *counters)
{
    return filch_stats_worker_(worker, counters, sizeof *counters);
}

/* Get the name of a counter, for loops over all counters.
 * which: the index of the field in filch_counters; the first is 0.
 * Call from: any thread or fiber.  Blocks: nothing.
 * Returns: the name; NULL: there is no such counter. */
FILCH_API const char *filch_counter_name(unsigned which);

/* Get the value of a counter.
 * Call from: any thread or fiber.  Blocks: nothing.
 * Returns: the value; 0: there is no such counter. */
static inline uint64_t filch_counter_value(const filch_counters *of, unsigned which)
{
    return filch_counter_value_(of, sizeof *of, which);
}

/* For libraries of Filch that print the counters of several processes: does this process print its
 * own when the runtime stops?  prints: false: it does not from now on. */
FILCH_API bool filch_stats_at_stop_(bool prints);

FILCH_END_DECLS

#endif
