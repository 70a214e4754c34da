/* Rundown protection: many threads use an object, and one thread closes it and waits until the last
 * user has left.  One word holds the number of users and a closed bit.  The runtime is protected by
 * it, and it is closed while no runtime runs.
 *
 *     user                                   stopper
 *     count up; is it closed?                close
 *       yes: count down, enter failed        wait until the count is 0
 *     (use the object)                       (free the object)
 *     count down; the last one wakes
 */
#ifndef FI_BASE_RUNDOWN_H
#define FI_BASE_RUNDOWN_H

#include "base/futex.h"

#include <limits.h>
#include <stdbool.h>

#define FI_RUNDOWN_CLOSED 0x80000000u

typedef struct fi_rundown {
    FI_ATOMIC(uint32_t) word;
} fi_rundown;

/* [user] -> rundown.empty: the last use before the object is freed */
static inline void fi_rundown_leave(fi_rundown *r)
{
    if (fi_fetch_add_release(&r->word, UINT32_MAX, rundown.leave) == FI_RUNDOWN_CLOSED + 1)
        fi_futex_wake(&r->word, INT_MAX);
}

/* [any] False: it is closed.  <- rundown.open: the initialised object */
static inline bool fi_rundown_try_enter(fi_rundown *r)
{
    if (!(fi_fetch_add_acquire(&r->word, 1u, rundown.enter) & FI_RUNDOWN_CLOSED))
        return true;
    fi_rundown_leave(r);
    return false;
}

/* [caller that knows that the object cannot be freed yet] Enter even if it is closed. */
static inline void fi_rundown_enter_unchecked(fi_rundown *r)
{
    fi_fetch_add_relaxed(&r->word, 1u);
}

/* [any] The number of users. */
static inline uint32_t fi_rundown_count(fi_rundown *r)
{
    return fi_load_relaxed(&r->word) & ~FI_RUNDOWN_CLOSED;
}

/* [starter] -> rundown.enter */
static inline void fi_rundown_open(fi_rundown *r)
{
    fi_fetch_add_release(&r->word, FI_RUNDOWN_CLOSED, rundown.open);
}

/* [stopper] */
static inline void fi_rundown_close(fi_rundown *r)
{
    fi_fetch_add_relaxed(&r->word, FI_RUNDOWN_CLOSED);
}

/* [stopper, after the close] The number of users.  If it is 0, their uses are visible.
 * <- rundown.leave */
static inline uint32_t fi_rundown_remaining(fi_rundown *r)
{
    return fi_load_acquire(&r->word, rundown.empty) - FI_RUNDOWN_CLOSED;
}

/* [stopper, after the close] Blocks the thread. */
static inline void fi_rundown_wait_empty(fi_rundown *r)
{
    uint32_t users;

    while ((users = fi_rundown_remaining(r)) > 0)
        fi_futex_wait(&r->word, FI_RUNDOWN_CLOSED + users, FI_FUTEX_FOREVER);
}

#endif
