/* Scattering elements into buckets, so that all elements of a bucket come before those of the
 * next. */
#ifndef FI_ALGO_SCATTER_H
#define FI_ALGO_SCATTER_H

#include "algo/sort_ops.h"

#define FI_BUCKETS_MAX 256

typedef struct fi_scatter {
    const fi_sort_ops *ops;
    const fi_comparator *cmp;
    char *from, *to;      /* n elements each */
    size_t n;             /* > 0 */
    bool in_place;        /* the result is wanted in from */
    size_t blocks, block; /* number of blocks, elements of a block (the last has fewer) */
    size_t buckets;       /* up to FI_BUCKETS_MAX; 0: all elements are equal */
    size_t (*offset)[FI_BUCKETS_MAX]; /* of each block: first counts, then indexes */
    size_t start[FI_BUCKETS_MAX + 1]; /* of each bucket */
    unsigned char *bucket_of;         /* of each element, if ops->stores_bucket_of */
    char *splitter, *tree;            /* samples: the splitters, sorted and as a search tree */
    bool equals;                      /* samples: even buckets hold elements equal to a splitter */
    int64_t min;                      /* numbers: the smallest key */
    unsigned shift;                   /* numbers: bucket = (key - min) >> shift */
} fi_scatter;

/* Index of the first element of a block, and the number of elements. */
static inline size_t fi_scatter_first(const fi_scatter *s, size_t block)
{
    return block * s->block;
}

static inline size_t fi_scatter_length(const fi_scatter *s, size_t block)
{
    size_t left = s->n - fi_scatter_first(s, block);

    return left < s->block ? left : s->block;
}

/* Sort stably by the best method for n elements.  bucket_of has n bytes, or is NULL.
 * Call from: a task. */
void fi_sort_range(const fi_sort_ops *ops, const fi_comparator *cmp, void *from, void *result,
                   void *scratch, size_t n, unsigned char *bucket_of);

#endif
