/* The door of the runtime.  Many go in and out; who wants to stop the runtime shuts the door and waits until nobody is
 * inside.  One word: how many are inside, and whether it is shut, as it is while no runtime runs.
 *
 *     who comes                              who stops
 *     count up; was it shut?                 shut it
 *       then count down, another way         wait until the count is 0
 *     (use the runtime)                      (free the runtime)
 *     count down; the last wakes
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

/* [who is inside] -> rundown.empty: the last use of the runtime before it is freed. */
static inline void fi_rundown_leave(fi_rundown *d)
{
    if (fi_fetch_add_release(&d->word, UINT32_MAX, rundown.leave) == FI_RUNDOWN_CLOSED + 1)
        fi_futex_wake(&d->word, INT_MAX);
}

/* [any] False: it is shut.  <- rundown.open: the runtime as it was made. */
static inline bool fi_rundown_try_enter(fi_rundown *d)
{
    if (!(fi_fetch_add_acquire(&d->word, 1u, rundown.enter) & FI_RUNDOWN_CLOSED))
        return true;
    fi_rundown_leave(d);
    return false;
}

/* [who knows of something that keeps the runtime from being freed] Enter, shut or not. */
static inline void fi_rundown_enter_unchecked(fi_rundown *d)
{
    fi_fetch_add_relaxed(&d->word, 1u);
}

/* [any] */
static inline uint32_t fi_rundown_count(fi_rundown *d)
{
    return fi_load_relaxed(&d->word) & ~FI_RUNDOWN_CLOSED;
}

/* [who starts] -> rundown.enter */
static inline void fi_rundown_open(fi_rundown *d)
{
    fi_fetch_add_release(&d->word, FI_RUNDOWN_CLOSED, rundown.open);
}

/* [who stops] */
static inline void fi_rundown_close(fi_rundown *d)
{
    fi_fetch_add_relaxed(&d->word, FI_RUNDOWN_CLOSED);
}

/* [who stops, having shut it] What is inside, besides that it is shut; 0: nobody, and what they did is seen.
 * <- rundown.leave */
static inline uint32_t fi_rundown_remaining(fi_rundown *d)
{
    return fi_load_acquire(&d->word, rundown.empty) - FI_RUNDOWN_CLOSED;
}

/* [who stops, having shut it] Blocks the thread. */
static inline void fi_rundown_wait_empty(fi_rundown *d)
{
    uint32_t inside;

    while ((inside = fi_rundown_remaining(d)) > 0)
        fi_futex_wait(&d->word, FI_RUNDOWN_CLOSED + inside, FI_FUTEX_FOREVER);
}

#endif
