/* Comparison functions that the sort recognises, so that it need not call them. */
#ifndef FI_ALGO_COMPARE_H
#define FI_ALGO_COMPARE_H

#include "algo/sort_ops.h"

/* If cmp->compare is one of filch_compare_*, return the operations for those numbers and set
 * cmp->fold and cmp->flip.  Otherwise return NULL. */
const fi_sort_ops *fi_sort_ops_for_numbers(fi_comparator *cmp);

#endif
