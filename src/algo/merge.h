/* Merging by several workers. */
#ifndef FI_ALGO_MERGE_H
#define FI_ALGO_MERGE_H

#include "algo/kind.h"

/* Merge two ordered ranges; of equal elements, those of a come first. */
void fi_merge(const fi_kind *kind, const fi_order *o, const void *a, size_t na, const void *b,
              size_t nb, void *out);

/* For elements of this size that are compared by a function; NULL where none is made for it. */
const fi_kind *fi_kind_for_size(size_t size);

/* What a caller may ask for: n elements of this size, somewhere, and a function.  NULL is no place for any. */
bool fi_is_range(const void *base, size_t n, size_t size);

#endif
