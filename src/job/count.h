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
#ifndef FI_JOB_COUNT_H
#define FI_JOB_COUNT_H

#include "base/atomic.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    FI_COUNT_AWAITED = 1,
    FI_COUNT_OF_JOB = 2, /* it counts a job and its children */
    FI_COUNT_ONE = 4,
};

typedef FI_ATOMIC(uint32_t) fi_count_word;

/* [any] So many pieces more.  Relaxed: a queue hands over what they are. */
static inline void fi_count_up(fi_count_word *c)
{
    fi_fetch_add_relaxed(c, (uint32_t)FI_COUNT_ONE);
}

/* [any] The same, unless all is done: false. */
static inline bool fi_count_up_if_any(fi_count_word *c)
{
    uint32_t seen = fi_load_relaxed(c);

    while (seen >= FI_COUNT_ONE)
        if (fi_cas_relaxed(c, &seen, seen + FI_COUNT_ONE))
            return true;
    return false;
}

/* [who has done n pieces] What is left, with the bits.  -> count.check, count.last: the work before the word. */
static inline uint32_t fi_count_down(fi_count_word *c, uint32_t n)
{
    uint32_t down = n * FI_COUNT_ONE;

    return fi_fetch_add_release(c, 0u - down, count.down) - down;
}

/* [who has ended the last piece, where the word stays] See what the others have done.  <- count.down */
static inline void fi_count_see_all(fi_count_word *c)
{
    (void)fi_load_acquire(c, count.last);
}

/* [any] <- count.down */
static inline bool fi_count_is_done(fi_count_word *c)
{
    return fi_load_acquire(c, count.check) < FI_COUNT_ONE;
}

/* [waiter] Say that we wait.  False: all is done. */
static inline bool fi_count_await(fi_count_word *c)
{
    uint32_t seen = fi_load_relaxed(c);

    while (seen >= FI_COUNT_ONE)
        if ((seen & FI_COUNT_AWAITED) || fi_cas_relaxed(c, &seen, seen | FI_COUNT_AWAITED))
            return true;
    return false;
}

/* [waiter, under the lock of its line] Will somebody come to wake us? */
static inline bool fi_count_is_awaited(fi_count_word *c)
{
    uint32_t seen = fi_load_relaxed(c);

    return seen >= FI_COUNT_ONE && (seen & FI_COUNT_AWAITED);
}

/* [waiter that has seen that all is done] Nobody waits any more; if somebody does, it will say so again. */
static inline void fi_count_forget_waiters(fi_count_word *c)
{
    uint32_t seen = fi_load_relaxed(c);

    if (seen < FI_COUNT_ONE && (seen & FI_COUNT_AWAITED))
        fi_cas_relaxed(c, &seen, seen & ~(uint32_t)FI_COUNT_AWAITED);
}

#endif
