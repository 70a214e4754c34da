/* The loops that all variants run. */
#ifndef BENCH_PARTS_ALGO_LOOPS_H
#define BENCH_PARTS_ALGO_LOOPS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Update each element in [lo, hi). */
void algo_loop_body(size_t lo, size_t hi, void *ctx);

/* Run body for the range [0, n) with this number of threads. */
typedef void algo_body(size_t lo, size_t hi, void *ctx);
void algo_loop_omp(size_t n, int threads, algo_body *body);
void algo_loop_tbb(size_t n, int threads, algo_body *body);

#ifdef __cplusplus
}
#endif

#endif
