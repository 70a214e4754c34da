/* The cases of `filch bench fibers`, on Filch.  Those of Go beside this do the same by its own means. */
#ifndef BENCH_FIBERS_CASES_H
#define BENCH_FIBERS_CASES_H

#include "metrics.h"

#include <stdint.h>

/* Runs in a fiber, does n operations, and gives their time, with what was counted on the way as the answer. */
typedef stopwatch fibers_run(long n, int64_t *answer);

fibers_run start_batch, start_one;
fibers_run yield_2, yield_100;
fibers_run rendezvous;
fibers_run buffered_1, buffered_4;
fibers_run mutex;
fibers_run skynet, skynet_join;
fibers_run parked;
fibers_run timers;

/* How many fibers a skynet of that depth is, and what they add up to. */
int64_t skynet_fibers(long depth);
int64_t skynet_sum(long depth);

/* What the i-th of `of` does of n. */
static inline long share(long n, int of, int i)
{
    return n / of + (i < n % of);
}

/* For what cannot go wrong unless memory is short; a bench has nothing better to do then. */
void must(int result);

#endif
