/* A bell: who has said something rings, and who listens hears all that was said, or does not fall asleep.
 *
 *     who rings                       who listens
 *     1. say it                       1. heard = fi_eventcount_prepare
 *     2. ring                         2. look at what is said
 *                                     3. fi_eventcount_wait: not if it was rung since step 1
 *
 * To ring is nothing but one word and a call to the kernel: signal handlers may.
 */
#ifndef FI_BASE_EVENTCOUNT_H
#define FI_BASE_EVENTCOUNT_H

#include "base/atomic.h"
#include "base/futex.h"

typedef FI_ATOMIC(uint32_t) fi_eventcount; /* how often it was rung */

/* [any] -> eventcount.prepare: what was said before */
static inline void fi_eventcount_notify(fi_eventcount *b)
{
    fi_fetch_add_release(b, 1u, eventcount.notify);
    fi_futex_wake(b, 1);
}

/* [who listens] <- eventcount.notify: else it hears the bell but not what is said, and falls asleep. */
static inline uint32_t fi_eventcount_prepare(fi_eventcount *b)
{
    return fi_load_acquire(b, eventcount.prepare);
}

/* [who listens] Until it is rung again, or the deadline. */
static inline void fi_eventcount_wait(fi_eventcount *b, uint32_t heard, int64_t deadline_ns)
{
    fi_futex_wait(b, heard, deadline_ns);
}

#endif
