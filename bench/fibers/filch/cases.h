/* The cases of `filch bench fibers` for Filch.  ../go has the same cases for Go. */
#ifndef BENCH_FIBERS_CASES_H
#define BENCH_FIBERS_CASES_H

#include "metrics.h"

#include <stdint.h>

/* Runs on a fiber and does n operations.  Returns their time, and in *answer a count to check. */
typedef stopwatch fibers_run(long n, int64_t *answer);

fibers_run start_batch, start_one;
fibers_run yield_2, yield_100;
fibers_run rendezvous;
fibers_run buffered_1, buffered_4;
fibers_run mutex;
fibers_run skynet, skynet_join;
fibers_run parked;
fibers_run timers;

/* Number of fibers of a skynet of this depth, and the sum of its leaves. */
int64_t skynet_fibers(long depth);
int64_t skynet_sum(long depth);

/* The share of n operations that fiber i of n_fibers does. */
static inline long share(long n, int n_fibers, int i)
{
    return n / n_fibers + (i < n % n_fibers);
}

/* Exit if result is an error.  For calls that fail only when memory runs out. */
void must(int result);

#endif
