/* Sorts of other libraries, for ints.  The parallel ones use two threads. */
#ifndef BENCH_PARTS_ALGO_SORT_H
#define BENCH_PARTS_ALGO_SORT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

void algo_sort_std(int *v, size_t n);
void algo_sort_tbb(int *v, size_t n);
void algo_sort_gnu(int *v, size_t n);

#ifdef __cplusplus
}
#endif

#endif
