/* The number of unfinished members of a group, and whether a waiter waits for them, in one word.
 *
 * The thread that ends the last member learns in the same step whether it must wake waiters.  After
 * that step the group may be gone.
 *
 *     thread that ends a member               waiter
 *     1. subtract; was it the last?           1. set WAITERS, unless all are done
 *     2. WAITERS: wake the wait queue         2. under the lock of the wait queue: if members are
 *                                                left and WAITERS is set, enter the queue
 *
 * If the subtraction comes before 1 on the right, the waiter sees that all are done.  If it comes
 * between 1 and 2, the check in 2 sees it.  If it comes later, step 2 on the left finds the waiter
 * in the queue. */
#ifndef FI_JOB_PENDING_H
#define FI_JOB_PENDING_H

#include "base/atomic.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    FI_PENDING_WAITERS = 1,
    FI_PENDING_OF_JOB = 2, /* the members are a job's own work and its children */
    FI_PENDING_ONE = 4,
};

typedef FI_ATOMIC(uint32_t) fi_pending;

/* [any] Add a member.  Relaxed: the queue publishes its work. */
static inline void fi_pending_add(fi_pending *c)
{
    fi_fetch_add_relaxed(c, (uint32_t)FI_PENDING_ONE);
}

/* [any] Add a member, unless all are done.  Then false. */
static inline bool fi_pending_try_add(fi_pending *c)
{
    uint32_t seen = fi_load_relaxed(c);

    while (seen >= FI_PENDING_ONE)
        if (fi_cas_relaxed(c, &seen, seen + FI_PENDING_ONE))
            return true;
    return false;
}

/* [caller that ended n members] Returns the new word.
 * -> pending.check, pending.last: the work comes before the word. */
static inline uint32_t fi_pending_sub(fi_pending *c, uint32_t n)
{
    uint32_t down = n * FI_PENDING_ONE;

    return fi_fetch_add_release(c, 0u - down, pending.sub) - down;
}

/* [caller that ended the last member of a job] See the work of the others.  <- pending.sub */
static inline void fi_pending_acquire(fi_pending *c)
{
    (void)fi_load_acquire(c, pending.last);
}

/* [any] <- pending.sub */
static inline bool fi_pending_is_done(fi_pending *c)
{
    return fi_load_acquire(c, pending.check) < FI_PENDING_ONE;
}

/* [waiter] Set the mark of waiters.  False: all are done. */
static inline bool fi_pending_set_waiters(fi_pending *c)
{
    uint32_t seen = fi_load_relaxed(c);

    while (seen >= FI_PENDING_ONE)
        if ((seen & FI_PENDING_WAITERS) || fi_cas_relaxed(c, &seen, seen | FI_PENDING_WAITERS))
            return true;
    return false;
}

/* [waiter, under the lock of its wait queue] Will another thread wake it? */
static inline bool fi_pending_has_waiters(fi_pending *c)
{
    uint32_t seen = fi_load_relaxed(c);

    return seen >= FI_PENDING_ONE && (seen & FI_PENDING_WAITERS);
}

/* [waiter that has seen that all are done] Clear the mark.  Another waiter sets it again. */
static inline void fi_pending_clear_waiters(fi_pending *c)
{
    uint32_t seen = fi_load_relaxed(c);

    if (seen < FI_PENDING_ONE && (seen & FI_PENDING_WAITERS))
        fi_cas_relaxed(c, &seen, seen & ~(uint32_t)FI_PENDING_WAITERS);
}

#endif
