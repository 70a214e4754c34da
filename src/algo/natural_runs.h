/* Natural runs: ascending or descending stretches of the input.  A few of them need only be
 * merged. */
#ifndef FI_ALGO_NATURAL_RUNS_H
#define FI_ALGO_NATURAL_RUNS_H

#include "algo/sort_ops.h"

#define FI_NATURAL_RUNS_MAX 8 /* with more runs, sorting is faster */

typedef struct fi_natural_runs {
    size_t n;
    size_t start[FI_NATURAL_RUNS_MAX + 1]; /* and the end of the last */
    bool descending[FI_NATURAL_RUNS_MAX];  /* strictly */
} fi_natural_runs;

/* Find the runs of n elements.  n > 0.  Call from: a task.
 * Returns: false if there are more than FI_NATURAL_RUNS_MAX. */
bool fi_natural_runs_find(const fi_sort_ops *ops, const fi_comparator *cmp, const void *from,
                          size_t n, fi_natural_runs *r);

/* Merge the runs into one.  scratch has the size of the range.  It may be NULL if there is one
 * run. */
void fi_natural_runs_merge(const fi_sort_ops *ops, const fi_comparator *cmp, fi_natural_runs *r,
                           void *from, void *scratch);

/* Copy bytes in parallel. */
void fi_copy_parallel(void *to, const void *from, size_t bytes);

#endif
