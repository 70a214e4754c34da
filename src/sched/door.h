/* The door of the runtime.  Many go in and out; who wants to stop the runtime shuts the door and waits until nobody is
 * inside.  One word: how many are inside, and whether it is shut, as it is while no runtime runs.
 *
 *     who comes                              who stops
 *     count up; was it shut?                 shut it
 *       then count down, another way         wait until the count is 0
 *     (use the runtime)                      (free the runtime)
 *     count down; the last wakes
 */
#ifndef FI_SCHED_DOOR_H
#define FI_SCHED_DOOR_H

#include "base/futex.h"

#include <limits.h>
#include <stdbool.h>

#define FI_DOOR_SHUT 0x80000000u

typedef struct fi_door {
    FI_ATOMIC(uint32_t) word;
} fi_door;

/* [who is inside] -> door.empty: the last use of the runtime before it is freed. */
static inline void fi_door_leave(fi_door *d)
{
    if (fi_fetch_add_release(&d->word, UINT32_MAX, door.leave) == FI_DOOR_SHUT + 1)
        fi_futex_wake(&d->word, INT_MAX);
}

/* [any] False: it is shut.  <- door.open: the runtime as it was made. */
static inline bool fi_door_enter(fi_door *d)
{
    if (!(fi_fetch_add_acquire(&d->word, 1u, door.enter) & FI_DOOR_SHUT))
        return true;
    fi_door_leave(d);
    return false;
}

/* [who knows of something that keeps the runtime from being freed] Enter, shut or not. */
static inline void fi_door_enter_anyhow(fi_door *d)
{
    fi_fetch_add_relaxed(&d->word, 1u);
}

/* [any] */
static inline uint32_t fi_door_inside(fi_door *d)
{
    return fi_load_relaxed(&d->word) & ~FI_DOOR_SHUT;
}

/* [who starts] -> door.enter */
static inline void fi_door_open(fi_door *d)
{
    fi_fetch_add_release(&d->word, FI_DOOR_SHUT, door.open);
}

/* [who stops] */
static inline void fi_door_shut(fi_door *d)
{
    fi_fetch_add_relaxed(&d->word, FI_DOOR_SHUT);
}

/* [who stops, having shut it] What is inside, besides that it is shut; 0: nobody, and what they did is seen.
 * <- door.leave */
static inline uint32_t fi_door_look(fi_door *d)
{
    return fi_load_acquire(&d->word, door.empty) - FI_DOOR_SHUT;
}

/* [who stops, having shut it] Blocks the thread. */
static inline void fi_door_await_empty(fi_door *d)
{
    uint32_t inside;

    while ((inside = fi_door_look(d)) > 0)
        fi_futex_wait(&d->word, FI_DOOR_SHUT + inside, FI_FUTEX_FOREVER);
}

#endif
