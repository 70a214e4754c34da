/* The state word of the watchdog: whether it sleeps until it is notified, and the number of threads
 * that wait.  sched/watchdog.h explains its use. */
#ifndef FI_SCHED_WATCHDOG_STATE_H
#define FI_SCHED_WATCHDOG_STATE_H

#include "base/atomic.h"

#include <stdbool.h>
#include <stdint.h>

#define FI_WATCHDOG_ASLEEP UINT64_C(1)
#define FI_WATCHDOG_THREAD UINT64_C(2)
#define FI_WATCHDOG_CHANGE (UINT64_C(1) << 32)

typedef FI_ATOMIC(uint64_t) fi_watchdog_state;

/* The number of threads that wait, in a value of the word. */
static inline uint64_t fi_watchdog_state_threads(uint64_t word)
{
    return word % FI_WATCHDOG_CHANGE / FI_WATCHDOG_THREAD;
}

/* [watchdog, while no worker can wake] Set ASLEEP, unless the word has changed since it was read.
 * A thread that wakes a worker afterwards does so under the same lock, and the worker sees the bit
 * by idle.woken.  So relaxed is enough. */
static inline bool fi_watchdog_state_sleep(fi_watchdog_state *w, uint64_t seen)
{
    return fi_cas_relaxed(w, &seen, seen | FI_WATCHDOG_ASLEEP);
}

/* [any] Clear ASLEEP.  True: it was set, and the caller must notify the watchdog. */
static inline bool fi_watchdog_state_wake(fi_watchdog_state *w)
{
    uint64_t word = fi_load_relaxed(w);

    while (word & FI_WATCHDOG_ASLEEP)
        if (fi_cas_relaxed(w, &word, word - FI_WATCHDOG_ASLEEP))
            return true;
    return false;
}

/* [any] One more thread waits, or one less.  The word never has the same value again, and the
 * watchdog checks it.  True: the watchdog slept, and the caller must notify it. */
static inline bool fi_watchdog_state_change(fi_watchdog_state *w, uint64_t by)
{
    return (fi_fetch_add_relaxed(w, FI_WATCHDOG_CHANGE + by) & FI_WATCHDOG_ASLEEP) &&
           !FI_FAULT(watchdog_state.change_notifies) && fi_watchdog_state_wake(w);
}

#endif
