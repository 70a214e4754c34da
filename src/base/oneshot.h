/* A one-shot event: one thread sets it once, and one thread waits for it.  The word is 0 at first.
 * It is mostly on the waiter's stack, so it may be gone as soon as it is set. */
#ifndef FI_BASE_ONESHOT_H
#define FI_BASE_ONESHOT_H

#include "base/atomic.h"
#include "base/futex.h"

#include <errno.h>
#include <stdbool.h>

enum { FI_ONESHOT_UNSET, FI_ONESHOT_SET, FI_ONESHOT_WAITING };

/* [any] True: a waiter had announced itself.  -> oneshot.wait: the result */
static inline bool fi_oneshot_set(FI_ATOMIC(uint32_t) * event)
{
    /* After the exchange the word may be gone.  A wake-up without a sleeper is harmless. */
    bool waiting = fi_exchange_release(event, FI_ONESHOT_SET, oneshot.set) == FI_ONESHOT_WAITING;

    if (waiting)
        fi_futex_wake(event, 1);
    return waiting;
}

/* [waiter] Announce that a wait follows.  False: the event is set already. */
static inline bool fi_oneshot_announce(FI_ATOMIC(uint32_t) * event)
{
    uint32_t unset = FI_ONESHOT_UNSET;

    return fi_cas_relaxed(event, &unset, FI_ONESHOT_WAITING);
}

/* [waiter] Blocks the thread.  False: the deadline passed first.  <- oneshot.set */
static inline bool fi_oneshot_wait_until(FI_ATOMIC(uint32_t) * event, int64_t deadline_ns)
{
    (void)fi_oneshot_announce(event);
    while (fi_load_acquire(event, oneshot.wait) != FI_ONESHOT_SET)
        if (fi_futex_wait(event, FI_ONESHOT_WAITING, deadline_ns) == -ETIMEDOUT)
            return false;
    return true;
}

/* [waiter] Blocks the thread. */
static inline void fi_oneshot_wait(FI_ATOMIC(uint32_t) * event)
{
    fi_oneshot_wait_until(event, FI_FUTEX_FOREVER);
}

#endif
