/* A number that one thread at a time counts in and anybody reads: relaxed, and no locked instruction, as there is
 * only one writer.  Nothing depends on what it says, so model checks leave all counting out: it would only make
 * more states of the same program. */
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
