/* The watcher's word: does it sleep until somebody rings, and how many threads wait.  sched/watch.h tells what for. */
#ifndef FI_SCHED_WATCH_WORD_H
#define FI_SCHED_WATCH_WORD_H

#include "base/atomic.h"

#include <stdbool.h>
#include <stdint.h>

#define FI_WATCH_ASLEEP UINT64_C(1)
#define FI_WATCH_THREAD UINT64_C(2)
#define FI_WATCH_CHANGE (UINT64_C(1) << 32)

typedef FI_ATOMIC(uint64_t) fi_watch_word;

/* How many threads wait, by what was read. */
static inline uint64_t fi_watch_threads(uint64_t word)
{
    return word % FI_WATCH_CHANGE / FI_WATCH_THREAD;
}

/* [watcher, while no worker can wake] Asleep from now on, unless something was changed since the word was read.  Who wakes a worker
 * afterwards does so under the same lock, and the worker sees the bit by idle.woken: relaxed is enough. */
static inline bool fi_watch_word_sleep(fi_watch_word *w, uint64_t seen)
{
    return fi_cas_relaxed(w, &seen, seen | FI_WATCH_ASLEEP);
}

/* [any] It does not sleep any more.  True: it did, and is ours to ring for. */
static inline bool fi_watch_word_wake(fi_watch_word *w)
{
    uint64_t word = fi_load_relaxed(w);

    while (word & FI_WATCH_ASLEEP)
        if (fi_cas_relaxed(w, &word, word - FI_WATCH_ASLEEP))
            return true;
    return false;
}

/* [any] One more thread waits, or one less.  The word never has the same value again, and the
 * watcher checks it.  True: the watcher slept, and the caller must ring for it. */
static inline bool fi_watch_word_change(fi_watch_word *w, uint64_t by)
{
    return (fi_fetch_add_relaxed(w, FI_WATCH_CHANGE + by) & FI_WATCH_ASLEEP) &&
           !FI_FAULT(watch.change_rings) && fi_watch_word_wake(w);
}

#endif
