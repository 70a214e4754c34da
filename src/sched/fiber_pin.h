/* Pins: how another thread reads the waiter of a fiber while the fiber may end the wait.
 *
 *     the fiber                                         the canceller, or another reader
 *     begins: store its waiter                          set a pin, and FI_CANCEL_DONE
 *             light fence  fiber_pin.begin_wait.fence   heavy fence  fiber_pin.pin.fence
 *             cancelled?  then do not wait              is there a waiter?  end its wait
 *     ends:   clear its waiter                          remove the pin
 *             light fence  fiber_pin.end_wait.fence
 *             a pin?  wait until it is gone
 *
 * At the beginning either the fiber sees that it is cancelled, or the other thread sees the waiter.
 * At the end either the fiber sees the pin, and stays until the pin is removed, or the other thread
 * sees no waiter.
 *
 * A thread that reads the stack of a fiber and its saved context freezes the fiber:
 *
 *     a worker                                  the thread that freezes
 *     shows that it runs the fiber              counts a freeze, and sets a pin
 *             light fence  switch.enter.fence   heavy fence  fiber_pin.pin.fence
 *             frozen?  wait until it is not     no worker shows it?  it is parked, and stays so
 *     switches to it
 *
 * Either the freezing thread sees the worker that runs the fiber, or the fiber does not run before
 * it is thawed.  A pin alone would not be enough: a canceller takes a lock while it holds a pin,
 * and the worker that is about to run the fiber may hold that lock.
 */
#ifndef FI_SCHED_FIBER_PIN_H
#define FI_SCHED_FIBER_PIN_H

#include "base/compiler.h"
#include "sched/fiber.h"

/* [any thread that keeps the fiber alive] The fiber stays in its wait until it is unpinned. */
static inline void fi_fiber_pin(fi_fiber *f)
{
    fi_fetch_add_relaxed(&f->pins, 1u);
}

/* [holder of pins] After the fence, either it sees the waiter of a pinned fiber, or the fiber sees
 * the pin and what was stored before the fence. */
static inline void fi_fiber_pin_fence(void)
{
    fi_fence_heavy(fiber_pin.pin.fence);
}

/* [holder of a pin, after fi_fiber_pin_fence] The waiter of the fiber; NULL: none.
 * <- fiber_pin.begin_wait */
static inline fi_waiter *fi_fiber_load_wait(fi_fiber *f)
{
    return fi_load_acquire(&f->waiting, fiber_pin.load_wait);
}

/* [holder of a pin] The same with the fence. */
static inline fi_waiter *fi_fiber_pinned_wait(fi_fiber *f)
{
    fi_fiber_pin_fence();
    return fi_fiber_load_wait(f);
}

/* -> fiber_pin.await: the last read, before the waiter is gone or the stack is in use again. */
static inline void fi_fiber_drop_count(FI_ATOMIC(uint32_t) * pins)
{
    fi_fetch_add_release(pins, UINT32_MAX, fiber_pin.unpin);
}

/* [holder of a pin] */
static inline void fi_fiber_unpin(fi_fiber *f)
{
    fi_fiber_drop_count(&f->pins);
}

/* [any thread that keeps the fiber alive] A parked fiber does not continue until it is thawed.
 * Returns its waiter; NULL: none.  The fiber is pinned too: if it runs, it must not begin another
 * wait before the caller finds that it is parked. */
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

/* [the thread that froze it] Is the fiber on this worker?  A fiber that switches to another one is
 * shown as leaving before the other is shown as running. */
static inline bool fi_fiber_is_on(fi_fiber *f, FI_ATOMIC(fi_task_bounds *) * current,
                                  FI_ATOMIC(fi_task_bounds *) * leaving)
{
    return fi_task_bounds_load_current(current) == &f->bounds ||
           fi_task_bounds_load_current(leaving) == &f->bounds;
}

/* [fiber] Begin a wait.  Returns: cancel_state.  -> fiber_pin.load_wait: the initialised
 * waiter. */
static inline uint32_t fi_fiber_begin_wait(fi_fiber *f, fi_waiter *w)
{
    fi_store_release(&f->waiting, w, fiber_pin.begin_wait);
    fi_fence_light(fiber_pin.begin_wait.fence);
    return fi_load_relaxed(&f->cancel_state);
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

/* [worker] The fiber is about to run here.  Wait until it is not frozen. */
static inline void fi_fiber_set_running(fi_fiber *f, FI_ATOMIC(fi_task_bounds *) * current)
{
    fi_task_bounds_store_current(current, &f->bounds);
    fi_fence_light(switch.enter.fence);
    fi_fiber_await_zero(&f->freezes);
}

/* [worker] The context of the fiber is saved: it may run elsewhere. */
static inline void fi_fiber_clear_running(FI_ATOMIC(fi_task_bounds *) * current)
{
    fi_task_bounds_store_current(current, NULL);
}

/* [fiber] It switches to another fiber, and its context is not saved yet; it is saved. */
static inline void fi_fiber_set_leaving(fi_fiber *f, FI_ATOMIC(fi_task_bounds *) * leaving)
{
    if (!FI_FAULT(fiber_pin.leaving))
        fi_task_bounds_store_current(leaving, &f->bounds);
}

static inline void fi_fiber_clear_leaving(FI_ATOMIC(fi_task_bounds *) * leaving)
{
    fi_task_bounds_store_current(leaving, NULL);
}

/* [fiber] End the wait.  Afterwards the waiter may be freed. */
static inline void fi_fiber_end_wait(fi_fiber *f)
{
    fi_store_relaxed(&f->waiting, NULL);
    fi_fence_light(fiber_pin.end_wait.fence);
    fi_fiber_await_unpinned(f);
}

#endif
