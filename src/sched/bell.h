/* A bell: who has said something rings, and who listens hears all that was said, or does not fall asleep.
 *
 *     who rings                       who listens
 *     1. say it                       1. heard = fi_bell_hear
 *     2. ring                         2. look at what is said
 *                                     3. fi_bell_sleep: not if it was rung since step 1
 *
 * To ring is nothing but one word and a call to the kernel: signal handlers may.
 */
#ifndef FI_SCHED_BELL_H
#define FI_SCHED_BELL_H

#include "base/atomic.h"
#include "base/futex.h"

typedef FI_ATOMIC(uint32_t) fi_bell; /* how often it was rung */

/* [any] -> bell.hear: what was said before */
static inline void fi_bell_ring(fi_bell *b)
{
    fi_fetch_add_release(b, 1u, bell.ring);
    fi_futex_wake(b, 1);
}

/* [who listens] <- bell.ring: else it hears the bell but not what is said, and falls asleep. */
static inline uint32_t fi_bell_hear(fi_bell *b)
{
    return fi_load_acquire(b, bell.hear);
}

/* [who listens] Until it is rung again, or the deadline. */
static inline void fi_bell_sleep(fi_bell *b, uint32_t heard, int64_t deadline_ns)
{
    fi_futex_wait(b, heard, deadline_ns);
}

#endif
