/* Four parallel steps: find the range of keys, count the elements of each block that go to each
 * bucket, move the elements, and sort the buckets. */
#include "algo/scatter.h"

#include <filch/algo.h>
#include <filch/memory.h>
#include <string.h>

#define BLOCKS_MAX 256
#define BLOCK_MIN  4096 /* elements */

static void find_key_ranges(size_t lo, size_t hi, void *ctx)
{
    fi_scatter *s = ctx;

    for (; lo < hi; lo++)
        s->ops->find_key_range(s, lo);
}

static void count_blocks(size_t lo, size_t hi, void *ctx)
{
    fi_scatter *s = ctx;

    for (; lo < hi; lo++)
        s->ops->count_block(s, lo);
}

static void move_blocks(size_t lo, size_t hi, void *ctx)
{
    fi_scatter *s = ctx;

    for (; lo < hi; lo++)
        s->ops->move_block(s, lo);
}

static void sort_buckets(size_t lo, size_t hi, void *ctx)
{
    fi_scatter *s = ctx;

    for (; lo < hi; lo++)
        s->ops->sort_bucket(s, lo);
}

/* Turn the counts of each block and bucket into the index of its first element. */
static void counts_to_offsets(fi_scatter *s)
{
    size_t sum = 0;

    for (size_t bucket = 0; bucket < s->buckets; bucket++) {
        s->start[bucket] = sum;
        for (size_t block = 0; block < s->blocks; block++) {
            size_t here = s->offset[block][bucket];
            s->offset[block][bucket] = sum;
            sum += here;
        }
    }
    s->start[s->buckets] = sum;
}

static void scatter_and_sort(fi_scatter *s)
{
    if (s->ops->find_key_range)
        filch_for(0, s->blocks, 1, find_key_ranges, s);
    s->ops->choose_buckets(s);
    if (s->buckets == 0) {
        if (!s->in_place)
            memcpy(s->to, s->from, s->n * s->ops->size);
        return;
    }
    filch_for(0, s->blocks, 1, count_blocks, s);
    counts_to_offsets(s);
    filch_for(0, s->blocks, 1, move_blocks, s);
    filch_for(0, s->buckets, 1, sort_buckets, s);
}

static void choose_blocks(fi_scatter *s)
{
    s->block = s->n / BLOCKS_MAX + 1;
    if (s->block < BLOCK_MIN)
        s->block = BLOCK_MIN;
    s->blocks = (s->n - 1) / s->block + 1;
}

/* The offsets of all blocks, then the splitters and their tree. */
static size_t scatter_bytes(const fi_scatter *s)
{
    return s->blocks * sizeof *s->offset + (size_t)2 * FI_BUCKETS_MAX * s->ops->size;
}

void fi_sort_range(const fi_sort_ops *ops, const fi_comparator *cmp, void *from, void *result,
                   void *scratch, size_t n, unsigned char *bucket_of)
{
    fi_scatter s = {.ops = ops,
                    .cmp = cmp,
                    .from = from,
                    .to = from == result ? scratch : result,
                    .n = n,
                    .in_place = from == result,
                    .bucket_of = bucket_of};
    char *memory = NULL;

    choose_blocks(&s);
    if (n >= ops->scatter_min)
        memory = filch_alloc(scatter_bytes(&s));
    if (!memory) {
        ops->sort(cmp, from, result, scratch, n);
        return;
    }
    s.offset = memset(memory, 0, scatter_bytes(&s));
    s.splitter = memory + s.blocks * sizeof *s.offset;
    s.tree = s.splitter + FI_BUCKETS_MAX * ops->size;
    scatter_and_sort(&s);
    filch_free(memory, scatter_bytes(&s));
}
