/* Sorts that allocate nothing, for when memory is short.  They swap elements of any size. */
#ifndef FI_ALGO_NO_ALLOC_H
#define FI_ALGO_NO_ALLOC_H

#include "algo/sort_ops.h"

/* Not stable. */
void fi_sort_no_alloc(const fi_comparator *cmp, void *base, size_t n);

/* Stable.  Moves each element about log2(n) times more often. */
void fi_sort_stable_no_alloc(const fi_comparator *cmp, void *base, size_t n);

/* Shared by both sorts. */
void fi_swap(const fi_comparator *cmp, char *base, size_t i, size_t j);
bool fi_is_less(const fi_comparator *cmp, const char *base, size_t i, size_t j);
void fi_insertion_sort(const fi_comparator *cmp, char *base, size_t n);

#endif
