/* How long an idle worker searches before it sleeps.
 *
 * A wake-up takes tens of microseconds.  In a program whose parallel loops follow each other at
 * short intervals, a worker that sleeps in between comes late to each loop.  So each worker
 * measures its idle periods, from the beginning of a search until it finds work or is woken.  It
 * expects that the next idle period is at most twice as long as the longest of the last ones, and
 * searches for that time.  Each idle period that is longer than the maximum halves that time, down
 * to the minimum.
 *
 * Searches beyond the minimum have a budget.  A search without success is charged in full.  A
 * search with success is charged a sixteenth of its time, because it saves a wake-up.  A worker is
 * credited a quarter of the time in which it runs work, and 2 us for each wake-up.  Without budget
 * it searches for the minimum time.  So long searches without success take at most a quarter of the
 * time in which the worker runs work, plus 2 us for each wake-up, plus the initial budget.  Long
 * searches with success take at most 16 times that.
 *
 * FILCH_SEARCH_NS sets the minimum.  With more workers than CPUs, with one CPU, and if the minimum
 * is 0, the maximum is the minimum. */
#ifndef FI_SCHED_SEARCH_TIME_H
#define FI_SCHED_SEARCH_TIME_H

#include <stdbool.h>
#include <stdint.h>

#define FI_SEARCH_NS_MAX      800000
#define FI_SEARCH_NS_BUDGET   4000000
#define FI_SEARCH_NS_PER_WAKE 2000
#define FI_SEARCH_RUN_SHARE   4
#define FI_SEARCH_FOUND_SHARE 16
#define FI_SEARCH_DECAY       8

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
    if (t->limit_ns <= min_ns || t->limit_ns > FI_SEARCH_NS_BUDGET - t->spent_ns)
        return min_ns;
    return t->limit_ns;
}

static inline void fi_search_time_expect(fi_search_time *t, int64_t idle_ns, int64_t max_ns)
{
    int64_t limit = 2 * idle_ns < max_ns ? 2 * idle_ns : max_ns;

    if (t->limit_ns < limit)
        t->limit_ns = limit;
}

/* [worker] The search has found work. */
static inline void fi_search_time_found(fi_search_time *t, int64_t now_ns, int64_t max_ns)
{
    int64_t idle = now_ns - t->idle_ns;

    fi_search_time_expect(t, idle, max_ns);
    t->spent_ns += idle / FI_SEARCH_FOUND_SHARE;
    t->running_ns = now_ns;
}

/* [worker] The search ends without work.  is_long: it was allowed more than the minimum. */
static inline void fi_search_time_failed(fi_search_time *t, int64_t now_ns, bool is_long)
{
    if (is_long)
        t->spent_ns += now_ns - t->idle_ns;
}

/* [worker, before it sleeps; borrower, before it returns the worker] No work runs. */
static inline void fi_search_time_sleep(fi_search_time *t)
{
    t->running_ns = 0;
}

/* [worker] It was woken after a search without work. */
static inline void fi_search_time_woken(fi_search_time *t, int64_t now_ns, int64_t max_ns)
{
    int64_t idle = now_ns - t->idle_ns;

    t->limit_ns -= t->limit_ns / (idle < max_ns ? FI_SEARCH_DECAY : 2);
    if (idle < max_ns)
        fi_search_time_expect(t, idle, max_ns);
    t->spent_ns -= FI_SEARCH_NS_PER_WAKE;
    t->running_ns = now_ns;
}

#endif
