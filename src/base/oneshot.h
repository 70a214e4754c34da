/* A word, 0 at first, that one party opens once and one thread waits for.  What the opener has done
 * before, the other sees; then the word may be gone, as it mostly stands on the waiter's stack. */
#ifndef FI_BASE_ONESHOT_H
#define FI_BASE_ONESHOT_H

#include "base/atomic.h"
#include "base/futex.h"

#include <errno.h>
#include <stdbool.h>

enum { FI_ONESHOT_UNSET, FI_ONESHOT_SET, FI_ONESHOT_WAITING };

/* [any] True: somebody had come to wait.  -> oneshot.wait: the result before the word. */
static inline bool fi_oneshot_set(FI_ATOMIC(uint32_t) * gate)
{
    /* From here on the thread may be gone with its stack; a wake-up for nobody does no harm. */
    bool awaited = fi_exchange_release(gate, FI_ONESHOT_SET, oneshot.set) == FI_ONESHOT_WAITING;

    if (awaited)
        fi_futex_wake(gate, 1);
    return awaited;
}

/* [thread] I come to wait.  False: it is open already. */
static inline bool fi_oneshot_announce(FI_ATOMIC(uint32_t) * gate)
{
    uint32_t shut = FI_ONESHOT_UNSET;

    return fi_cas_relaxed(gate, &shut, FI_ONESHOT_WAITING);
}

/* [thread] Blocks the thread.  False: the deadline has come first.  <- oneshot.set */
static inline bool fi_oneshot_wait_until(FI_ATOMIC(uint32_t) * gate, int64_t deadline_ns)
{
    (void)fi_oneshot_announce(gate);
    while (fi_load_acquire(gate, oneshot.wait) != FI_ONESHOT_SET)
        if (fi_futex_wait(gate, FI_ONESHOT_WAITING, deadline_ns) == -ETIMEDOUT)
            return false;
    return true;
}

static inline void fi_oneshot_wait(FI_ATOMIC(uint32_t) * gate)
{
    fi_oneshot_wait_until(gate, FI_FUTEX_FOREVER);
}

#endif
