/* Sleeping: to stand in a line of one's own, where only time passes by. */
#include "wait/waitq.h"

#include <filch/time.h>

#include <errno.h>

int filch_sleep_until(int64_t deadline)
{
    fi_wait_chaos();
    fi_biased_lock latch = {0};
    fi_waitq line = {0};
    fi_waiter w = {0};
    int e;

    fi_obj_lock_second(&latch);
    e = fi_waitq_wait(&w, &line, &latch, (fi_wait_reason){"sleep", NULL}, deadline);
    return e == -ETIMEDOUT ? 0 : e;
}

int filch_sleep(int64_t ns)
{
    int64_t now = filch_now();

    return filch_sleep_until(ns > INT64_MAX - now ? INT64_MAX : now + ns);
}
