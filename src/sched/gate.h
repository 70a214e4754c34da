/* A word, 0 at first, that one party opens once and one thread waits for.  What the opener has done
 * before, the other sees; then the word may be gone, as it mostly stands on the waiter's stack. */
#ifndef FI_SCHED_GATE_H
#define FI_SCHED_GATE_H

#include "base/atomic.h"
#include "base/futex.h"

#include <errno.h>
#include <stdbool.h>

enum { FI_GATE_SHUT, FI_GATE_OPEN, FI_GATE_AWAITED };

/* [any] True: somebody had come to wait.  -> gate.wait: the result before the word. */
static inline bool fi_gate_open(FI_ATOMIC(uint32_t) * gate)
{
    /* From here on the thread may be gone with its stack; a wake-up for nobody does no harm. */
    bool awaited = fi_exchange_release(gate, FI_GATE_OPEN, gate.open) == FI_GATE_AWAITED;

    if (awaited)
        fi_futex_wake(gate, 1);
    return awaited;
}

/* [thread] I come to wait.  False: it is open already. */
static inline bool fi_gate_come(FI_ATOMIC(uint32_t) * gate)
{
    uint32_t shut = FI_GATE_SHUT;

    return fi_cas_relaxed(gate, &shut, FI_GATE_AWAITED);
}

/* [thread] Blocks the thread.  False: the deadline has come first.  <- gate.open */
static inline bool fi_gate_wait_until(FI_ATOMIC(uint32_t) * gate, int64_t deadline_ns)
{
    (void)fi_gate_come(gate);
    while (fi_load_acquire(gate, gate.wait) != FI_GATE_OPEN)
        if (fi_futex_wait(gate, FI_GATE_AWAITED, deadline_ns) == -ETIMEDOUT)
            return false;
    return true;
}

static inline void fi_gate_wait(FI_ATOMIC(uint32_t) * gate)
{
    fi_gate_wait_until(gate, FI_FUTEX_FOREVER);
}

#endif
