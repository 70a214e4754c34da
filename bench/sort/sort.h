/* Merge sort between two arrays of the same length.  What all versions share: the leaves, where a
 * merge may be cut, and the merge of what is cut.
 *
 * Blocks of SORT_LEAF are sorted by insertion.  The parallel versions also cut merges in half, by the
 * length of the output, so that the number of tasks does not depend on the data, down to
 * SORT_MERGE_LEAF; the serial one merges in one go. */
#ifndef BENCH_SORT_H
#define BENCH_SORT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SORT_LEAF = 32, SORT_MERGE_LEAF = 4096 };

/* What is to be sorted, and as much room. */
extern int *sort_data, *sort_room;
extern size_t sort_length;

/* Two sorted runs that are to become one. */
typedef struct runs {
    const int *a, *b;
    size_t a_length, b_length;
} runs;

static inline size_t runs_length(const runs *r)
{
    return r->a_length + r->b_length;
}

/* The two halves of sorted data, side by side. */
static inline runs runs_of(const int *data, size_t n)
{
    runs r = {data, data + n / 2, n / 2, n - n / 2};
    return r;
}

/* Cut off and return the part that gives the first n of the output; r keeps the rest. */
runs sort_cut(runs *r, size_t n);

void sort_merge(const runs *r, int *out);

/* Sort n <= SORT_LEAF numbers of data, into data or into room. */
void sort_leaf(int *data, int *room, size_t n, int into_room);

#ifdef __cplusplus
}
#endif

#endif
