/* How long an idle worker searches before it sleeps.
 *
 * A wake-up takes tens of microseconds.  In a program whose parallel loops follow each other at
 * short intervals, a worker that sleeps in between comes late to each loop.  So each worker measures
 * its idle periods, from the beginning of a search until it is woken.  After a short idle period the
 * next search may take twice as long as that period.  After each long one it may take half as long
 * as before, down to the minimum.
 *
 * Searches beyond the minimum have a budget, so that they cannot use much more CPU time than the
 * work does.  A search that finds nothing is paid in full, and a search that finds work is paid by a
 * sixteenth, because it saves a wake-up.  A worker earns a quarter of the time in which it runs
 * work, and 5 us for each wake-up, which costs about as much.  Without budget it searches for the
 * minimum time.  So a worker searches in vain for at most a quarter of the time in which it runs
 * work, plus 5 us for each wake-up, and searches with success for at most four times that.
 *
 * FILCH_SEARCH_NS sets the minimum.  If there are more workers than CPUs, or if the minimum is 0,
 * it is the maximum as well. */
#ifndef FI_SCHED_SEARCH_TIME_H
#define FI_SCHED_SEARCH_TIME_H

#include <stdint.h>

#define FI_SEARCH_NS_MAX      800000 /* of one search, and of the budget */
#define FI_SEARCH_NS_PER_WAKE 5000
#define FI_SEARCH_RUN_SHARE   4
#define FI_SEARCH_FOUND_SHARE 16

/* Used by the thread that is attached to the worker. */
typedef struct fi_search_time {
    int64_t limit_ns;   /* of the next search, if it is more than the minimum */
    int64_t spent_ns;   /* of the budget */
    int64_t running_ns; /* when the worker began to run work; 0: unknown */
    int64_t idle_ns;    /* when the last search began */
} fi_search_time;

/* [worker] A search begins.  Returns: how long it may take. */
static inline int64_t fi_search_time_begin(fi_search_time *t, int64_t now_ns, int64_t min_ns)
{
    if (t->running_ns != 0)
        t->spent_ns -= (now_ns - t->running_ns) / FI_SEARCH_RUN_SHARE;
    if (t->spent_ns < 0)
        t->spent_ns = 0;
    t->running_ns = 0;
    t->idle_ns = now_ns;
    if (t->limit_ns <= min_ns || t->limit_ns > FI_SEARCH_NS_MAX - t->spent_ns)
        return min_ns;
    return t->limit_ns;
}

/* [worker] The search has found work.
 * [worker] The search ends without work. */
static inline void fi_search_time_found(fi_search_time *t, int64_t now_ns)
{
    t->spent_ns += (now_ns - t->idle_ns) / FI_SEARCH_FOUND_SHARE;
    t->running_ns = now_ns;
}

static inline void fi_search_time_failed(fi_search_time *t, int64_t now_ns, int64_t min_ns)
{
    if (now_ns - t->idle_ns > min_ns)
        t->spent_ns += now_ns - t->idle_ns;
}

/* [worker, before it sleeps, and borrower that returns it] The worker does not run work any more.
 * [worker] It was woken after a search without work. */
static inline void fi_search_time_sleep(fi_search_time *t)
{
    t->running_ns = 0;
}

static inline void fi_search_time_woken(fi_search_time *t, int64_t now_ns, int64_t max_ns)
{
    int64_t idle = now_ns - t->idle_ns;

    t->limit_ns = idle < max_ns ? 2 * idle : t->limit_ns / 2;
    if (t->limit_ns > max_ns)
        t->limit_ns = max_ns;
    t->spent_ns -= FI_SEARCH_NS_PER_WAKE;
    t->running_ns = now_ns;
}

#endif
