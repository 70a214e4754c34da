/* How much of a group is not yet done, and whether somebody waits for that: one word, so that whoever ends the last piece
 * learns both in the step that ends it.  After that step the group may be gone, as its waiter may be.
 *
 *     who ends                                who waits
 *     1. subtract; was it the last?           1. set AWAITED, unless all is done
 *     2. AWAITED: wake those in line          2. under the lock of the line: more to do, and still AWAITED?
 *                                                stand in line
 *
 * If the subtraction comes before 1 on the right, the waiter sees that all is done; if it comes between 1 and 2, the
 * check in 2 does; if it comes later, step 2 on the left finds the waiter in line. */
#ifndef FI_JOB_PENDING_H
#define FI_JOB_PENDING_H

#include "base/atomic.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    FI_PENDING_WAITERS = 1,
    FI_PENDING_OF_JOB = 2, /* it counts a job and its children */
    FI_PENDING_ONE = 4,
};

typedef FI_ATOMIC(uint32_t) fi_pending;

/* [any] So many pieces more.  Relaxed: a queue hands over what they are. */
static inline void fi_pending_add(fi_pending *c)
{
    fi_fetch_add_relaxed(c, (uint32_t)FI_PENDING_ONE);
}

/* [any] The same, unless all is done: false. */
static inline bool fi_pending_try_add(fi_pending *c)
{
    uint32_t seen = fi_load_relaxed(c);

    while (seen >= FI_PENDING_ONE)
        if (fi_cas_relaxed(c, &seen, seen + FI_PENDING_ONE))
            return true;
    return false;
}

/* [who has done n pieces] What is left, with the bits.  -> pending.check, pending.last: the work before the word. */
static inline uint32_t fi_pending_sub(fi_pending *c, uint32_t n)
{
    uint32_t down = n * FI_PENDING_ONE;

    return fi_fetch_add_release(c, 0u - down, pending.sub) - down;
}

/* [who has ended the last piece, where the word stays] See what the others have done.  <- pending.sub */
static inline void fi_pending_acquire(fi_pending *c)
{
    (void)fi_load_acquire(c, pending.last);
}

/* [any] <- pending.sub */
static inline bool fi_pending_is_done(fi_pending *c)
{
    return fi_load_acquire(c, pending.check) < FI_PENDING_ONE;
}

/* [waiter] Say that we wait.  False: all is done. */
static inline bool fi_pending_set_waiters(fi_pending *c)
{
    uint32_t seen = fi_load_relaxed(c);

    while (seen >= FI_PENDING_ONE)
        if ((seen & FI_PENDING_WAITERS) || fi_cas_relaxed(c, &seen, seen | FI_PENDING_WAITERS))
            return true;
    return false;
}

/* [waiter, under the lock of its line] Will somebody come to wake us? */
static inline bool fi_pending_has_waiters(fi_pending *c)
{
    uint32_t seen = fi_load_relaxed(c);

    return seen >= FI_PENDING_ONE && (seen & FI_PENDING_WAITERS);
}

/* [waiter that has seen that all is done] Nobody waits any more; if somebody does, it will say so again. */
static inline void fi_pending_clear_waiters(fi_pending *c)
{
    uint32_t seen = fi_load_relaxed(c);

    if (seen < FI_PENDING_ONE && (seen & FI_PENDING_WAITERS))
        fi_cas_relaxed(c, &seen, seen & ~(uint32_t)FI_PENDING_WAITERS);
}

#endif
