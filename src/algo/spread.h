/* Spreading elements over buckets, so that all of one bucket come before all of the next. */
#ifndef FI_ALGO_SPREAD_H
#define FI_ALGO_SPREAD_H

#include "algo/kind.h"

#define FI_BUCKETS 256

typedef struct fi_spread {
    const fi_kind *kind;
    const fi_order *order;
    char *from, *to;              /* n elements each */
    size_t n;                     /* > 0 */
    bool back;                    /* in the end they shall lie in from again */
    size_t blocks, block;         /* how many, of how many elements; the last has less */
    size_t buckets;               /* at most FI_BUCKETS; 0: all elements are equal */
    size_t (*place)[FI_BUCKETS];  /* of each block: how many go to a bucket, then where to */
    size_t start[FI_BUCKETS + 1]; /* of each bucket */
    unsigned char *bucket_of;     /* each element, where the kind keeps that */
    char *splitter, *tree;        /* samples: between the buckets, in order and as a search tree */
    bool equals;                  /* samples: even buckets hold elements equal to a splitter */
    int64_t least;                /* numbers: the least key */
    unsigned shift; /* numbers: what is left of a key without this many bits is the bucket */
} fi_spread;

/* Elements of a block, and where they begin. */
static inline size_t fi_spread_first(const fi_spread *s, size_t block)
{
    return block * s->block;
}

static inline size_t fi_spread_length(const fi_spread *s, size_t block)
{
    size_t left = s->n - fi_spread_first(s, block);

    return left < s->block ? left : s->block;
}

/* Sort, stably, by whatever is best for so many.  bucket_of has a byte for each element, or is NULL.
 * Call from: a task. */
void fi_sort_range(const fi_kind *kind, const fi_order *o, void *from, void *result, void *scratch,
                   size_t n, unsigned char *bucket_of);

#endif
