/* Parallel merge of two sorted ranges. */
#ifndef FI_ALGO_MERGE_H
#define FI_ALGO_MERGE_H

#include "algo/sort_ops.h"

/* Of equal elements, those of a come first. */
void fi_merge(const fi_sort_ops *ops, const fi_comparator *cmp, const void *a, size_t na,
              const void *b, size_t nb, void *out);

/* Operations on elements of this size that are compared by a function.  NULL: there are none. */
const fi_sort_ops *fi_sort_ops_for_size(size_t size);

#endif
