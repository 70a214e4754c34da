/* Scans.  The values of blocks are found first, then added up one after the other, then each block is written with what
 * lies before it.  So each block is read twice; that is why it is done stripe by stripe: what is read the second time
 * is still in a cache.  While a stripe is written, the values of the next are found, so that there is one time to wait
 * for each other instead of two, and memory is read and written at once.  How wide a stripe is depends on the workers,
 * but nothing that is added up does. */
#include <errno.h>
#include <filch/algo.h>
#include <filch/memory.h>
#include <filch/runtime.h>
#include <filch/task.h>
#include <string.h>

#define BLOCK     256 /* elements, where the grain is ours to choose and there are enough */
#define BLOCKS    256 /* of a range with less */
#define IN_STRIPE ((size_t)256 * BLOCK) /* elements for each worker: of 8 bytes, half a megabyte */

typedef struct scan {
    void (*map)(size_t lo, size_t hi, void *acc, void *ctx);
    void (*combine)(void *acc, const void *other, void *ctx);
    void (*write)(size_t lo, size_t hi, void *acc, void *ctx);
    void *ctx;
    void *acc; /* of all that lies before the stripe */
    const void *neutral;
    size_t size; /* of a value */
    size_t lo, hi, grain;
    size_t blocks, stripe; /* all, and those of a stripe */
    char *values;          /* of a stripe: first their own, then of all that lies before them */
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

static char *value_of(const scan *s, size_t block)
{
    return s->values + block % s->stripe * s->size;
}

static void map_block(const scan *s, size_t block)
{
    memcpy(value_of(s, block), s->neutral, s->size);
    s->map(block_lo(s, block), block_hi(s, block), value_of(s, block), s->ctx);
}

/* Its own value becomes that of all before it, and s->acc that of all up to its end. */
static void add_block(const scan *s, size_t block)
{
    _Alignas(64) char own[FILCH_REDUCE_MAX];

    memcpy(own, value_of(s, block), s->size);
    memcpy(value_of(s, block), s->acc, s->size);
    s->combine(s->acc, own, s->ctx);
}

static void write_block(const scan *s, size_t block)
{
    s->write(block_lo(s, block), block_hi(s, block), value_of(s, block), s->ctx);
}

/* With the same values, by one. */
static void scan_alone(scan s)
{
    _Alignas(64) char value[FILCH_REDUCE_MAX];

    s.values = value;
    s.stripe = 1;
    for (size_t block = 0; block < s.blocks; block++) {
        map_block(&s, block);
        add_block(&s, block);
        write_block(&s, block);
    }
}

static void map_some(size_t lo, size_t hi, void *ctx)
{
    for (; lo < hi; lo++)
        map_block(ctx, lo);
}

/* And each time find the value of the block that lies one stripe further, which takes the place of this one's. */
static void write_some(size_t lo, size_t hi, void *ctx)
{
    const scan *s = ctx;

    for (; lo < hi; lo++) {
        write_block(s, lo);
        if (s->blocks - lo > s->stripe)
            map_block(s, lo + s->stripe);
    }
}

static void add_some(const scan *s, size_t lo, size_t hi)
{
    for (; lo < hi; lo++)
        add_block(s, lo);
}

static size_t end_of_stripe(const scan *s, size_t first)
{
    return s->blocks - first < s->stripe ? s->blocks : first + s->stripe;
}

static void scan_together(scan *s)
{
    size_t first = 0, end = end_of_stripe(s, 0);

    filch_for(first, end, 1, map_some, s);
    while (first < s->blocks) {
        add_some(s, first, end);
        filch_for(first, end, 1, write_some, s);
        first = end;
        end = end_of_stripe(s, first);
    }
}

static size_t choose_grain(size_t n)
{
    return n / BLOCKS < BLOCK ? n / BLOCKS + 1 : BLOCK;
}

static size_t blocks_in_stripe(const scan *s, size_t workers)
{
    size_t each = IN_STRIPE / s->grain, stripe = workers * (each > 4 ? each : 4);

    return stripe < s->blocks ? stripe : s->blocks;
}

FILCH_VOID_TASK(scan_all, scan *, s)
{
    size_t workers = filch_worker_count();

    s->stripe = blocks_in_stripe(s, workers);
    s->values = workers > 1 ? filch_alloc(s->stripe * s->size) : NULL;
    if (s->values)
        scan_together(s);
    else
        scan_alone(*s);
    filch_free(s->values, s->stripe * s->size);
}

int filch_scan(size_t lo, size_t hi, size_t grain, void *acc, size_t size,
               void (*map)(size_t lo, size_t hi, void *acc, void *ctx),
               void (*combine)(void *acc, const void *other, void *ctx),
               void (*write)(size_t lo, size_t hi, void *acc, void *ctx), void *ctx)
{
    char neutral[FILCH_REDUCE_MAX];
    scan s = {.map = map,
              .combine = combine,
              .write = write,
              .ctx = ctx,
              .acc = acc,
              .neutral = neutral,
              .size = size,
              .lo = lo,
              .hi = hi,
              .grain = grain};

    if (size > FILCH_REDUCE_MAX)
        return -EINVAL;
    if (hi <= lo)
        return 0;
    if (grain == 0)
        s.grain = choose_grain(hi - lo);
    s.blocks = (hi - lo - 1) / s.grain + 1;
    memcpy(neutral, acc, size);
    FILCH_RUN(scan_all, &s);
    return 0;
}
