/* The loop that all peers run. */
#ifndef BENCH_PARTS_ALGO_LOOPS_H
#define BENCH_PARTS_ALGO_LOOPS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A trivial iteration for each element from lo up to hi. */
void algo_loop_body(size_t lo, size_t hi, void *ctx);

/* All n of them, with so many threads. */
void algo_loop_omp(size_t n, int threads);
void algo_loop_tbb(size_t n, int threads);

#ifdef __cplusplus
}
#endif

#endif
