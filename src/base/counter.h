/* A counter with one writer at a time and any number of readers.  It is relaxed and needs no locked
 * instruction.  No decision depends on it, so the model checks leave it out: it would only multiply
 * their states. */
#ifndef FI_BASE_COUNTER_H
#define FI_BASE_COUNTER_H

#include "base/atomic.h"

#include <stdint.h>

#ifdef FI_ATOMIC_HEADER

typedef uint64_t fi_counter;

static inline void fi_count_add(fi_counter *counter, uint64_t n)
{
    (void)counter;
    (void)n;
}

static inline uint64_t fi_counted(const fi_counter *counter)
{
    (void)counter;
    return 0;
}

#else

typedef FI_ATOMIC(uint64_t) fi_counter;

/* [owner] */
static inline void fi_count_add(fi_counter *counter, uint64_t n)
{
    fi_store_relaxed(counter, fi_load_relaxed(counter) + n);
}

/* [any] */
static inline uint64_t fi_counted(const fi_counter *counter)
{
    return fi_load_relaxed(counter);
}

#endif

/* [owner] */
static inline void fi_count(fi_counter *counter)
{
    fi_count_add(counter, 1);
}

#endif
