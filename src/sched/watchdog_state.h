/* The watcher's word: does it sleep until somebody rings, and how many threads wait.  sched/watchdog.h tells what for. */
#ifndef FI_SCHED_WATCHDOG_STATE_H
#define FI_SCHED_WATCHDOG_STATE_H

#include "base/atomic.h"

#include <stdbool.h>
#include <stdint.h>

#define FI_WATCHDOG_ASLEEP UINT64_C(1)
#define FI_WATCHDOG_THREAD UINT64_C(2)
#define FI_WATCHDOG_CHANGE (UINT64_C(1) << 32)

typedef FI_ATOMIC(uint64_t) fi_watchdog_state;

/* How many threads wait, by what was read. */
static inline uint64_t fi_watchdog_state_threads(uint64_t word)
{
    return word % FI_WATCHDOG_CHANGE / FI_WATCHDOG_THREAD;
}

/* [watcher, while no worker can wake] Asleep from now on, unless something was changed since the word was read.  Who wakes a worker
 * afterwards does so under the same lock, and the worker sees the bit by idle.woken: relaxed is enough. */
static inline bool fi_watchdog_state_sleep(fi_watchdog_state *w, uint64_t seen)
{
    return fi_cas_relaxed(w, &seen, seen | FI_WATCHDOG_ASLEEP);
}

/* [any] It does not sleep any more.  True: it did, and is ours to ring for. */
static inline bool fi_watchdog_state_wake(fi_watchdog_state *w)
{
    uint64_t word = fi_load_relaxed(w);

    while (word & FI_WATCHDOG_ASLEEP)
        if (fi_cas_relaxed(w, &word, word - FI_WATCHDOG_ASLEEP))
            return true;
    return false;
}

/* [any] One more thread waits, or one less.  The word never has the same value again, and the
 * watcher checks it.  True: the watcher slept, and the caller must ring for it. */
static inline bool fi_watchdog_state_change(fi_watchdog_state *w, uint64_t by)
{
    return (fi_fetch_add_relaxed(w, FI_WATCHDOG_CHANGE + by) & FI_WATCHDOG_ASLEEP) &&
           !FI_FAULT(watchdog_state.change_notifies) && fi_watchdog_state_wake(w);
}

#endif
