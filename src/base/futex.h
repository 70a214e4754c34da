/* Sleep on a word until somebody changes it and says so. */
#ifndef FI_BASE_FUTEX_H
#define FI_BASE_FUTEX_H

#include "base/atomic.h"

#include <stdint.h>

#define FI_FUTEX_FOREVER INT64_MAX

/* [any] Sleep while *word == expected, until fi_futex_wake, or until CLOCK_MONOTONIC passes
 * deadline_ns (FI_FUTEX_FOREVER: never).  0 when woken (maybe for no reason: look again), -EAGAIN
 * when *word was different already, -ETIMEDOUT. */
int fi_futex_wait(FI_ATOMIC(uint32_t) * word, uint32_t expected, int64_t deadline_ns);

/* [any] Wake up to count sleepers of this word; how many there were. */
int fi_futex_wake(FI_ATOMIC(uint32_t) * word, int count);

/* [any] The same, for ever, for a word in memory that other processes have too. */
int fi_futex_wait_shared(FI_ATOMIC(uint32_t) * word, uint32_t expected);
int fi_futex_wake_shared(FI_ATOMIC(uint32_t) * word, int count);

#endif
