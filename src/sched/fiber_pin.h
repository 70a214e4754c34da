/* Who looks at what a fiber waits for, and how that stays there meanwhile.
 *
 *     the fiber                               who cancels, or looks
 *     begins: it waits for this               sets the flag that it is cancelled, and a pin
 *             light fence  fiber_pin.begin_wait.fence   heavy fence  fiber_pin.pin.fence
 *             cancelled?  then it does not    it waits for something?  end that
 *     ends:   it waits for nothing            takes the pin away
 *             light fence  fiber_pin.end_wait.fence
 *             a pin?  wait until it is gone
 *
 * At the beginning either the fiber sees that it is cancelled, or the other sees what it waits for.  At the end either the
 * fiber sees the pin, and stays where its wait is in place, or the other sees nothing to look at.
 *
 * Who looks at the stack of a fiber, and at its saved point, freezes it:
 *
 *     a worker                                who freezes it
 *     shows that it runs the fiber            says so, and sets a pin
 *             light fence  switch.enter.fence   heavy fence  fiber_pin.pin.fence
 *             frozen?  wait until it is not   no worker shows it?  then it is away, and stays so
 *     switches to it
 *
 * Either we see who runs it, or it does not run before we let it.  A pin alone would not do: who cancels takes a lock
 * meanwhile, and who is about to run the fiber may hold that.
 */
#ifndef FI_SCHED_FIBER_PIN_H
#define FI_SCHED_FIBER_PIN_H

#include "base/compiler.h"
#include "sched/fiber.h"

/* [any, who knows that the fiber stays] It stays until this is undone. */
static inline void fi_fiber_pin(fi_fiber *f)
{
    fi_fetch_add_relaxed(&f->pins, 1u);
}

/* [who has set a pin] What it waits for; NULL: nothing.  <- fiber_pin.begin_wait */
static inline fi_waiter *fi_fiber_pinned_wait(fi_fiber *f)
{
    fi_fence_heavy(fiber_pin.pin.fence);
    return fi_load_acquire(&f->waiting, fiber_pin.load_wait);
}

/* -> fiber_pin.await: the last look before the wait is gone, or the stack is in use again. */
static inline void fi_fiber_drop_count(FI_ATOMIC(uint32_t) * pins)
{
    fi_fetch_add_release(pins, UINT32_MAX, fiber_pin.unpin);
}

/* [who has set a pin] */
static inline void fi_fiber_unpin(fi_fiber *f)
{
    fi_fiber_drop_count(&f->pins);
}

/* [any, who knows that the fiber stays] It does not go on until thawed, if it is away.  What it waits for; NULL: nothing.
 * The pin too: a fiber that runs must not wait for something else by the time we find that it is away. */
static inline fi_waiter *fi_fiber_freeze(fi_fiber *f)
{
    fi_fetch_add_relaxed(&f->freezes, 1u);
    if (!FI_FAULT(fiber_pin.freeze_pins))
        fi_fiber_pin(f);
    return fi_fiber_pinned_wait(f);
}

static inline void fi_fiber_thaw(fi_fiber *f)
{
    if (!FI_FAULT(fiber_pin.freeze_pins))
        fi_fiber_unpin(f);
    fi_fiber_drop_count(&f->freezes);
}

/* [who has frozen it] Is it on this worker?  One that makes way for another is shown as leaving before the other is shown. */
static inline bool fi_fiber_is_on(fi_fiber *f, FI_ATOMIC(fi_task_bounds *) * current,
                                  FI_ATOMIC(fi_task_bounds *) * leaving)
{
    return fi_task_bounds_load_current(current) == &f->bounds ||
           fi_task_bounds_load_current(leaving) == &f->bounds;
}

/* [fiber] It waits for this.  True: it is cancelled.  -> fiber_pin.load_wait: the wait as it was made. */
static inline bool fi_fiber_begin_wait(fi_fiber *f, fi_waiter *w)
{
    fi_store_release(&f->waiting, w, fiber_pin.begin_wait);
    fi_fence_light(fiber_pin.begin_wait.fence);
    return fi_load_relaxed(&f->cancelled);
}

/* <- fiber_pin.unpin */
static inline void fi_fiber_await_zero(FI_ATOMIC(uint32_t) * pins)
{
    while (FI_UNLIKELY(fi_load_acquire(pins, fiber_pin.await)))
        fi_thread_yield();
}

/* [fiber] Wait until there is no pin. */
static inline void fi_fiber_await_unpinned(fi_fiber *f)
{
    fi_fiber_await_zero(&f->pins);
}

/* [worker] It is about to run here.  Wait until it is not frozen. */
static inline void fi_fiber_set_running(fi_fiber *f, FI_ATOMIC(fi_task_bounds *) * current)
{
    fi_task_bounds_store_current(current, &f->bounds);
    fi_fence_light(switch.enter.fence);
    fi_fiber_await_zero(&f->freezes);
}

/* [worker] Its point is saved: it may run elsewhere. */
static inline void fi_fiber_clear_running(FI_ATOMIC(fi_task_bounds *) * current)
{
    fi_task_bounds_store_current(current, NULL);
}

/* [fiber] It makes way for another, and its point is not saved yet; it is. */
static inline void fi_fiber_set_leaving(fi_fiber *f, FI_ATOMIC(fi_task_bounds *) * leaving)
{
    if (!FI_FAULT(fiber_pin.leaving))
        fi_task_bounds_store_current(leaving, &f->bounds);
}

static inline void fi_fiber_clear_leaving(FI_ATOMIC(fi_task_bounds *) * leaving)
{
    fi_task_bounds_store_current(leaving, NULL);
}

/* [fiber] It waits for nothing, and what it waited for may go away. */
static inline void fi_fiber_end_wait(fi_fiber *f)
{
    fi_store_relaxed(&f->waiting, NULL);
    fi_fence_light(fiber_pin.end_wait.fence);
    fi_fiber_await_unpinned(f);
}

#endif
