#include "io/retry.h"

#include "base/clock.h"
#include "wait/waitq.h"

#include <errno.h>

#define INTERVAL_MIN_NS INT64_C(1000000)
#define INTERVAL_MAX_NS (16 * INTERVAL_MIN_NS)

/* The queue is local, so only the deadline or a cancellation ends the wait. */
int fi_retry_wait(fi_retry *r)
{
    int64_t now = fi_clock_now();
    fi_biased_lock lock = {0};
    fi_waitq waitq = {0};
    fi_waiter w = {0};
    int e;

    if (now >= r->deadline)
        return -ETIMEDOUT;
    r->interval_ns = r->interval_ns == 0                 ? INTERVAL_MIN_NS
                     : r->interval_ns >= INTERVAL_MAX_NS ? INTERVAL_MAX_NS
                                                         : 2 * r->interval_ns;
    fi_obj_lock_second(&lock);
    e = fi_waitq_wait(&w, &waitq, &lock, r->reason,
                      r->interval_ns < r->deadline - now ? now + r->interval_ns : r->deadline);
    return e == -ETIMEDOUT ? 0 : e;
}
