/* Sleep until another thread changes a word and wakes its sleepers (futex(2)). */
#ifndef FI_BASE_FUTEX_H
#define FI_BASE_FUTEX_H

#include "base/atomic.h"

#include <stdint.h>

#define FI_FUTEX_FOREVER INT64_MAX

/* [any] If *word == expected, sleep until fi_futex_wake, or until CLOCK_MONOTONIC passes
 * deadline_ns (FI_FUTEX_FOREVER: never).
 * Returns 0: woken, perhaps spuriously; -EAGAIN: *word was different; -ETIMEDOUT. */
int fi_futex_wait(FI_ATOMIC(uint32_t) * word, uint32_t expected, int64_t deadline_ns);

/* [any] Wake up to count sleepers of this word.  Returns how many were woken. */
int fi_futex_wake(FI_ATOMIC(uint32_t) * word, int count);

#endif
