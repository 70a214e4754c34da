/* Scans.  Three steps: map each block to a value, accumulate the values serially, write each block
 * with the value of all blocks before it.
 *
 * Each block is read twice.  The scan therefore goes stripe by stripe: the second read finds the
 * stripe in a cache.  While a stripe is written, the next one is mapped.  This needs one join for
 * each stripe instead of two, and reads and writes memory at the same time.  The width of a stripe
 * depends on the number of workers, but the order of combining does not. */
#include "algo/check.h"

#include <filch/algo.h>
#include <filch/memory.h>
#include <filch/runtime.h>
#include <filch/task.h>

#include <errno.h>
#include <string.h>

#define BLOCK     256                   /* elements, in a long range without a given grain */
#define BLOCKS    256                   /* of a short range */
#define IN_STRIPE ((size_t)256 * BLOCK) /* elements for each worker; 8-byte ones are 512 KiB */

typedef struct scan {
    void (*map)(size_t lo, size_t hi, void *acc, void *ctx);
    void (*combine)(void *acc, const void *other, void *ctx);
    void (*write)(size_t lo, size_t hi, void *acc, void *ctx);
    void *ctx;
    void *acc; /* the result: value of all blocks before the stripe */
    const void *identity;
    size_t size; /* of a value */
    size_t lo, hi, grain;
    size_t blocks, stripe; /* number of blocks, and of blocks in a stripe */
    char *values;          /* of a stripe: first of each block, then of all blocks before it */
} scan;

static size_t block_lo(const scan *s, size_t block)
{
    return s->lo + block * s->grain;
}

static size_t block_hi(const scan *s, size_t block)
{
    size_t left = s->hi - block_lo(s, block);

    return block_lo(s, block) + (left < s->grain ? left : s->grain);
}

static char *block_value(const scan *s, size_t block)
{
    return s->values + block % s->stripe * s->size;
}

static void map_block(const scan *s, size_t block)
{
    memcpy(block_value(s, block), s->identity, s->size);
    s->map(block_lo(s, block), block_hi(s, block), block_value(s, block), s->ctx);
}

/* Replace the block's value by that of all blocks before it, and add the block to s->acc. */
static void accumulate_block(const scan *s, size_t block)
{
    _Alignas(64) char own[FILCH_REDUCE_MAX];

    memcpy(own, block_value(s, block), s->size);
    memcpy(block_value(s, block), s->acc, s->size);
    s->combine(s->acc, own, s->ctx);
}

static void write_block(const scan *s, size_t block)
{
    s->write(block_lo(s, block), block_hi(s, block), block_value(s, block), s->ctx);
}

/* The same values, computed by one worker. */
static void scan_serial(scan s)
{
    _Alignas(64) char value[FILCH_REDUCE_MAX];

    s.values = value;
    s.stripe = 1;
    for (size_t block = 0; block < s.blocks; block++) {
        map_block(&s, block);
        accumulate_block(&s, block);
        write_block(&s, block);
    }
}

static void map_blocks(size_t lo, size_t hi, void *ctx)
{
    for (; lo < hi; lo++)
        map_block(ctx, lo);
}

/* Write a block, then map the block one stripe further on, whose value goes to the same slot. */
static void write_and_map_blocks(size_t lo, size_t hi, void *ctx)
{
    const scan *s = ctx;

    for (; lo < hi; lo++) {
        write_block(s, lo);
        if (s->blocks - lo > s->stripe)
            map_block(s, lo + s->stripe);
    }
}

static void accumulate_blocks(const scan *s, size_t lo, size_t hi)
{
    for (; lo < hi; lo++)
        accumulate_block(s, lo);
}

static size_t stripe_end(const scan *s, size_t first)
{
    return s->blocks - first < s->stripe ? s->blocks : first + s->stripe;
}

static void scan_parallel(scan *s)
{
    size_t first = 0, end = stripe_end(s, 0);

    filch_for(first, end, 1, map_blocks, s);
    while (first < s->blocks) {
        accumulate_blocks(s, first, end);
        filch_for(first, end, 1, write_and_map_blocks, s);
        first = end;
        end = stripe_end(s, first);
    }
}

static size_t choose_grain(size_t n)
{
    return n / BLOCKS < BLOCK ? n / BLOCKS + 1 : BLOCK;
}

static size_t stripe_blocks(const scan *s, size_t workers)
{
    size_t each = IN_STRIPE / s->grain, stripe = workers * (each > 4 ? each : 4);

    return stripe < s->blocks ? stripe : s->blocks;
}

FILCH_VOID_TASK(scan_all, scan *, s)
{
    size_t workers = filch_worker_count();

    s->stripe = stripe_blocks(s, workers);
    s->values = workers > 1 ? filch_alloc(s->stripe * s->size) : NULL;
    if (s->values)
        scan_parallel(s);
    else
        scan_serial(*s);
    filch_free(s->values, s->stripe * s->size);
}

int filch_scan(size_t lo, size_t hi, size_t grain, void *result, const void *identity, size_t size,
               void (*map)(size_t lo, size_t hi, void *acc, void *ctx),
               void (*combine)(void *acc, const void *other, void *ctx),
               void (*write)(size_t lo, size_t hi, void *acc, void *ctx), void *ctx)
{
    scan s = {.map = map,
              .combine = combine,
              .write = write,
              .ctx = ctx,
              .acc = result,
              .identity = identity,
              .size = size,
              .lo = lo,
              .hi = hi,
              .grain = grain};

    if (fi_check_values("filch_scan", result, identity, size) < 0 ||
        fi_check_function("filch_scan", "map", map) < 0 ||
        fi_check_function("filch_scan", "combine", combine) < 0 ||
        fi_check_function("filch_scan", "write", write) < 0)
        return -EINVAL;
    if (hi <= lo)
        return 0;
    if (grain == 0)
        s.grain = choose_grain(hi - lo);
    s.blocks = (hi - lo - 1) / s.grain + 1;
    FILCH_RUN(scan_all, &s);
    return 0;
}
