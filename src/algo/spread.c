/* Spreading in four steps, each of them shared by all workers: what is there, how much of each block goes to which
 * bucket, moving it there, and sorting the buckets. */
#include "algo/spread.h"

#include <filch/algo.h>
#include <filch/memory.h>
#include <string.h>

#define MOST_BLOCKS 256
#define LEAST_BLOCK 4096 /* elements */

static void look_at(size_t lo, size_t hi, void *ctx)
{
    fi_spread *s = ctx;

    for (; lo < hi; lo++)
        s->kind->look(s, lo);
}

static void count_in(size_t lo, size_t hi, void *ctx)
{
    fi_spread *s = ctx;

    for (; lo < hi; lo++)
        s->kind->count(s, lo);
}

static void move_from(size_t lo, size_t hi, void *ctx)
{
    fi_spread *s = ctx;

    for (; lo < hi; lo++)
        s->kind->move(s, lo);
}

static void finish_in(size_t lo, size_t hi, void *ctx)
{
    fi_spread *s = ctx;

    for (; lo < hi; lo++)
        s->kind->finish(s, lo);
}

/* From how many there are to where each block's part of a bucket begins. */
static void find_places(fi_spread *s)
{
    size_t sum = 0;

    for (size_t bucket = 0; bucket < s->buckets; bucket++) {
        s->start[bucket] = sum;
        for (size_t block = 0; block < s->blocks; block++) {
            size_t here = s->place[block][bucket];
            s->place[block][bucket] = sum;
            sum += here;
        }
    }
    s->start[s->buckets] = sum;
}

static void spread(fi_spread *s)
{
    if (s->kind->look)
        filch_for(0, s->blocks, 1, look_at, s);
    s->kind->choose(s);
    if (s->buckets == 0) {
        if (!s->back)
            memcpy(s->to, s->from, s->n * s->kind->size);
        return;
    }
    filch_for(0, s->blocks, 1, count_in, s);
    find_places(s);
    filch_for(0, s->blocks, 1, move_from, s);
    filch_for(0, s->buckets, 1, finish_in, s);
}

static void cut_into_blocks(fi_spread *s)
{
    s->block = s->n / MOST_BLOCKS + 1;
    if (s->block < LEAST_BLOCK)
        s->block = LEAST_BLOCK;
    s->blocks = (s->n - 1) / s->block + 1;
}

/* The places of all blocks, then the splitters and their tree. */
static size_t bytes_for(const fi_spread *s)
{
    return s->blocks * sizeof *s->place + (size_t)2 * FI_BUCKETS * s->kind->size;
}

void fi_sort_range(const fi_kind *kind, const fi_order *o, void *from, void *result, void *scratch,
                   size_t n, unsigned char *bucket_of)
{
    fi_spread s = {.kind = kind,
                   .order = o,
                   .from = from,
                   .to = from == result ? scratch : result,
                   .n = n,
                   .back = from == result,
                   .bucket_of = bucket_of};
    char *memory = NULL;

    cut_into_blocks(&s);
    if (n >= kind->spread_from)
        memory = filch_alloc(bytes_for(&s));
    if (!memory) {
        kind->sort(o, from, result, scratch, n);
        return;
    }
    s.place = memset(memory, 0, bytes_for(&s));
    s.splitter = memory + s.blocks * sizeof *s.place;
    s.tree = s.splitter + FI_BUCKETS * kind->size;
    spread(&s);
    filch_free(memory, bytes_for(&s));
}
