/* Who looks at what a fiber waits for, and how that stays there meanwhile.
 *
 *     the fiber                               who cancels, or looks
 *     begins: it waits for this               sets the flag that it is cancelled, and a pin
 *             light fence  wait.begin.fence   heavy fence  wait.pin.fence
 *             cancelled?  then it does not    it waits for something?  end that
 *     ends:   it waits for nothing            takes the pin away
 *             light fence  wait.end.fence
 *             a pin?  wait until it is gone
 *
 * At the beginning either the fiber sees that it is cancelled, or the other sees what it waits for.  At the end either the
 * fiber sees the pin, and stays where its wait is in place, or the other sees nothing to look at.
 */
#ifndef FI_SCHED_PIN_H
#define FI_SCHED_PIN_H

#include "sched/fiber.h"

/* [any, who knows that the fiber stays] It stays until this is undone. */
static inline void fi_pin_set(fi_fiber *f)
{
    fi_fetch_add_relaxed(&f->pins, 1u);
}

/* [who has set a pin] What it waits for; NULL: nothing.  <- wait.begin */
static inline fi_wait *fi_pin_look(fi_fiber *f)
{
    fi_fence_heavy(wait.pin.fence);
    return fi_load_acquire(&f->waiting, wait.pinned);
}

/* -> wait.unpinned: the last look before the wait is gone, or the stack is in use again. */
static inline void fi_pin_take_one(FI_ATOMIC(uint32_t) * pins)
{
    fi_fetch_add_release(pins, UINT32_MAX, wait.unpin);
}

/* [who has set a pin] */
static inline void fi_pin_undo(fi_fiber *f)
{
    fi_pin_take_one(&f->pins);
}

/* [any, who knows that the fiber stays] It does not go on until thawed, if it is away; the same fences hold. */
static inline void fi_pin_freeze(fi_fiber *f)
{
    fi_fetch_add_relaxed(&f->frozen, 1u);
}

static inline void fi_pin_thaw(fi_fiber *f)
{
    fi_pin_take_one(&f->frozen);
}

/* [fiber] It waits for this.  True: it is cancelled.  -> wait.pinned: the wait as it was made. */
static inline bool fi_pin_begin(fi_fiber *f, fi_wait *w)
{
    fi_store_release(&f->waiting, w, wait.begin);
    fi_fence_light(wait.begin.fence);
    return fi_load_relaxed(&f->cancelled);
}

/* <- wait.unpin */
static inline void fi_pin_await(FI_ATOMIC(uint32_t) * pins)
{
    while (fi_load_acquire(pins, wait.unpinned))
        fi_yield();
}

/* [fiber] Wait until there is no pin. */
static inline void fi_pin_await_none(fi_fiber *f)
{
    fi_pin_await(&f->pins);
}

/* [worker, about to run it] Wait until it is not frozen. */
static inline void fi_pin_stay(fi_fiber *f)
{
    fi_pin_await(&f->frozen);
}

/* [fiber] It waits for nothing, and what it waited for may go away. */
static inline void fi_pin_end(fi_fiber *f)
{
    fi_store_relaxed(&f->waiting, NULL);
    fi_fence_light(wait.end.fence);
    fi_pin_await_none(f);
}

#endif
