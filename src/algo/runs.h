/* Elements that lie in a few stretches which are in order, up or down, need only be merged. */
#ifndef FI_ALGO_RUNS_H
#define FI_ALGO_RUNS_H

#include "algo/kind.h"

#define FI_RUNS 8 /* with more it is better to sort */

typedef struct fi_runs {
    size_t n;
    size_t start[FI_RUNS + 1]; /* and the end of the last */
    bool down[FI_RUNS];        /* strictly */
} fi_runs;

/* False when there are too many.  n > 0.  Call from: a task. */
bool fi_runs_find(const fi_kind *kind, const fi_order *o, const void *from, size_t n, fi_runs *r);

/* Bring them into order.  scratch is as large as what is sorted, or NULL if there is one run only. */
void fi_runs_merge(const fi_kind *kind, const fi_order *o, fi_runs *r, void *from, void *scratch);

/* Copy bytes by several workers. */
void fi_copy(void *to, const void *from, size_t bytes);

#endif
