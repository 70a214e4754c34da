/* Waits for which the kernel has no event: the caller repeats its system call at intervals. */
#ifndef FI_IO_RETRY_H
#define FI_IO_RETRY_H

#include "sched/fiber.h"

#include <stdint.h>

typedef struct fi_retry {
    fi_wait_reason reason; /* in messages */
    int64_t deadline;
    int64_t interval_ns; /* 0 at the start */
} fi_retry;

/* [any] Wait before the next attempt, at most until the deadline.  The first interval is 1 ms, and
 * each further one is longer, up to 16 ms.  Returns 0, -ETIMEDOUT, -ECANCELED or -ENOMEM. */
int fi_retry_wait(fi_retry *r);

#endif
