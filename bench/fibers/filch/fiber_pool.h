/* A set of fibers that share the operations of one case. */
#ifndef BENCH_FIBERS_FIBER_POOL_H
#define BENCH_FIBERS_FIBER_POOL_H

#include "cases.h"

enum { FIBER_POOL_MAX = 100 };

/* The work of one fiber. */
typedef struct fiber_share {
    long n;        /* operations to do */
    void *object;  /* what it works on */
    int64_t count; /* operations done */
} fiber_share;

/* Run work(fiber_share *) on n_fibers fibers, which do n operations together.  Returns the time
 * until all have ended.  Adds the sum of their counts to *answer. */
stopwatch fiber_pool_run(void *(*work)(void *arg), int n_fibers, long n, void *object,
                         int64_t *answer);

#endif
