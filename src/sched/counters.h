/* What a worker counts.  Written by the worker alone, read by anybody: relaxed, and no locked
 * instruction, as there is only one writer. */
#ifndef FI_SCHED_COUNTERS_H
#define FI_SCHED_COUNTERS_H

#include "base/atomic.h"

#include <stdint.h>

typedef struct fi_counters {
    FI_ATOMIC(uint64_t) spawned;
    FI_ATOMIC(uint64_t) published;
    FI_ATOMIC(uint64_t) claimed_back;
    FI_ATOMIC(uint64_t) taken; /* published tasks that somebody else ran */
    FI_ATOMIC(uint64_t) steals_single;
    FI_ATOMIC(uint64_t) steals_multiple;
    FI_ATOMIC(uint64_t) steals_failed;
    FI_ATOMIC(uint64_t) stolen;
    FI_ATOMIC(uint64_t) parks;
    FI_ATOMIC(uint64_t) wakes;
    FI_ATOMIC(uint64_t) sleeps;
    FI_ATOMIC(uint64_t) searches;
    FI_ATOMIC(uint64_t) jobs_given; /* and pieces of groups' work */
    FI_ATOMIC(uint64_t) jobs_ended;
    FI_ATOMIC(uint64_t) starts_given; /* fibers */
    FI_ATOMIC(uint64_t) starts_ended;
    FI_ATOMIC(uint64_t) fibers_made;
    FI_ATOMIC(uint64_t) fibers_reused;
} fi_counters;

/* [owner] */
static inline void fi_count_many(FI_ATOMIC(uint64_t) * counter, uint64_t n)
{
    fi_store_relaxed(counter, fi_load_relaxed(counter) + n);
}

static inline void fi_count(FI_ATOMIC(uint64_t) * counter)
{
    fi_count_many(counter, 1);
}

#endif
