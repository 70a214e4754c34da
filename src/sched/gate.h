/* A word, 0 at first, that one party opens once and one thread waits for.  What the opener has done
 * before, the other sees; then the word may be gone, as it mostly stands on the waiter's stack. */
#ifndef FI_SCHED_GATE_H
#define FI_SCHED_GATE_H

#include "base/atomic.h"
#include "base/futex.h"

/* [any] -> gate.wait: the result before the word. */
static inline void fi_gate_open(FI_ATOMIC(uint32_t) * gate)
{
    fi_store_release(gate, 1, gate.open);
    /* By now the thread may be gone with its stack; a wake-up for nobody does no harm. */
    fi_futex_wake(gate, 1);
}

/* [thread] Blocks the thread.  <- gate.open */
static inline void fi_gate_wait(FI_ATOMIC(uint32_t) * gate)
{
    while (!fi_load_acquire(gate, gate.wait))
        fi_futex_wait(gate, 0, FI_FUTEX_FOREVER);
}

#endif
