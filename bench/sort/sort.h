/* Merge sort between two arrays of the same length.  All versions share the sort of a leaf, the
 * split of a merge and the serial merge.
 *
 * Blocks of SORT_LEAF elements are sorted by insertion.  The parallel versions also split a merge
 * into halves of its output, down to SORT_MERGE_LEAF, so that the number of tasks does not depend
 * on the data.  The serial version does not split merges. */
#ifndef BENCH_SORT_H
#define BENCH_SORT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SORT_LEAF = 32, SORT_MERGE_LEAF = 4096 };

/* The array to sort, and a scratch array of the same length. */
extern int *sort_data, *sort_scratch;
extern size_t sort_length;

/* Two sorted runs to merge. */
typedef struct runs {
    const int *a, *b;
    size_t a_length, b_length;
} runs;

static inline size_t runs_length(const runs *r)
{
    return r->a_length + r->b_length;
}

/* The two sorted halves of data. */
static inline runs runs_of(const int *data, size_t n)
{
    runs r = {data, data + n / 2, n / 2, n - n / 2};
    return r;
}

/* Split off and return the part of r that yields the first n outputs.  r keeps the rest. */
runs sort_cut(runs *r, size_t n);

void sort_merge(const runs *r, int *out);

/* Sort n <= SORT_LEAF numbers of data, into scratch if into_scratch, else in place. */
void sort_leaf(int *data, int *scratch, size_t n, int into_scratch);

#ifdef __cplusplus
}
#endif

#endif
