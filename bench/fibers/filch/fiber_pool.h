/* Fibers that all do a share of the same work, and are waited for. */
#ifndef BENCH_FIBERS_FIBER_POOL_H
#define BENCH_FIBERS_FIBER_POOL_H

#include "cases.h"

enum { FIBER_POOL_MAX = 100 };

/* What one of them has to do, of what, and what it has counted. */
typedef struct fiber_share {
    long n;
    void *of;
    int64_t count;
} fiber_share;

/* work(fiber_share) in each of `n_fibers` fibers, which have n to do together; the time until all are done.  *answer gets the sum of
 * what they counted. */
stopwatch fiber_pool_run(void *(*work)(void *fiber_share), int n_fibers, long n, void *of,
                         int64_t *answer);

#endif
