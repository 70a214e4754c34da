/* Sleeping: to stand in a line of one's own, where only time passes by. */
#include "sched/wait.h"

#include <filch/time.h>

#include <errno.h>

int filch_sleep_until(int64_t deadline)
{
    fi_wait_chaos();
    fi_biased_lock latch = {0};
    fi_line line = {0};
    fi_wait w = {0};
    int e;

    fi_hold_also(&latch);
    e = fi_wait_in(&w, &line, &latch, (fi_wait_for){"sleep", NULL}, deadline);
    return e == -ETIMEDOUT ? 0 : e;
}

int filch_sleep(int64_t ns)
{
    int64_t now = filch_now();

    return filch_sleep_until(ns > INT64_MAX - now ? INT64_MAX : now + ns);
}
