/* Ranges of numbers as bags: filch_cluster_for and filch_cluster_reduce. */
#include "run/run.h"

#include <errno.h>
#include <filch/cluster.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

typedef struct range {
    uint64_t lo, hi;
} range;

/* The lane takes chunks from the low end.  Other threads take the upper half. */
typedef struct range_bag {
    pthread_spinlock_t lock;
    range left;
} range_bag;

typedef struct range_call {
    uint64_t grain; /* 0: a chunk is a block */
    int (*body)(uint64_t lo, uint64_t hi, void *ctx);
    int (*map)(uint64_t lo, uint64_t hi, void *acc, void *ctx); /* NULL: body */
    void *ctx;
} range_call;

/* The holder needs the lock for a few instructions, unless the kernel has preempted it. */
static void range_lock(range_bag *bag)
{
    while (pthread_spin_trylock(&bag->lock) != 0)
        sched_yield();
}

static void *range_make(void *ctx)
{
    range_bag *bag = malloc(sizeof *bag);

    (void)ctx;
    if (bag) {
        pthread_spin_init(&bag->lock, PTHREAD_PROCESS_PRIVATE);
        bag->left = (range){0, 0};
    }
    return bag;
}

static void range_drop(void *bag, void *ctx)
{
    (void)ctx;
    pthread_spin_destroy(&((range_bag *)bag)->lock);
    free(bag);
}

/* Take up to n numbers.  Returns how many. */
static uint64_t range_take(range_bag *bag, uint64_t n, range *chunk)
{
    uint64_t size;

    range_lock(bag);
    size = bag->left.hi - bag->left.lo;
    size = size < n ? size : n;
    *chunk = (range){bag->left.lo, bag->left.lo + size};
    bag->left.lo += size;
    pthread_spin_unlock(&bag->lock);
    return size;
}

static bool range_process(void *of, fi_block *block, void *ctx)
{
    const range_call *call = ctx;
    range_bag *bag = of;
    range chunk;

    while (block->items < block->max && block->result == 0) {
        uint64_t n = range_take(bag, call->grain ? call->grain : block->max, &chunk);

        if (n == 0)
            return false;
        block->result = call->map ? call->map(chunk.lo, chunk.hi, block->acc, call->ctx)
                                  : call->body(chunk.lo, chunk.hi, call->ctx);
        block->items += n;
    }
    return true;
}

/* A single chunk moves only if its lane is inside a long item. */
static bool is_worth_split(uint64_t size, const fi_split *how, uint64_t grain)
{
    return size > 0 && size >= how->min_items &&
           (size > grain || how->min_items <= 1 || grain <= 1);
}

/* Chunks of the grain stay whole. */
static uint64_t range_half(range left, uint64_t grain)
{
    uint64_t size = left.hi - left.lo, half = size - size / 2;

    if (grain > 1)
        half = half / grain * grain;
    return half > 0 ? half : size;
}

static void *range_split(void *of, const fi_split *how, void *ctx)
{
    const range_call *call = ctx;
    range_bag *bag = of, *part;
    uint64_t size;

    if (pthread_spin_trylock(&bag->lock) != 0)
        return NULL;
    size = bag->left.hi - bag->left.lo;
    part = is_worth_split(size, how, call->grain) ? range_make(ctx) : NULL;
    if (part) {
        uint64_t half = range_half(bag->left, call->grain);

        part->left = (range){bag->left.hi - half, bag->left.hi};
        bag->left.hi -= half;
    }
    pthread_spin_unlock(&bag->lock);
    return part;
}

static size_t range_pack(const void *bag, void *to, size_t capacity, void *ctx)
{
    (void)ctx;
    if (capacity >= sizeof(range))
        memcpy(to, &((const range_bag *)bag)->left, sizeof(range));
    return sizeof(range);
}

static int range_unpack(void *bag, const void *from, size_t size, void *ctx)
{
    (void)ctx;
    if (size != sizeof(range))
        return -EPROTO;
    memcpy(&((range_bag *)bag)->left, from, size);
    return 0;
}

static const fi_bag_ops range_ops = {
    .is_shared = true,
    .make = range_make,
    .drop = range_drop,
    .process = range_process,
    .split = range_split,
    .pack = range_pack,
    .unpack = range_unpack,
};

/* The part of the range with which this rank begins. */
static range range_share(uint64_t lo, uint64_t hi)
{
    uint64_t ranks = filch_cluster_ranks(), rank = filch_cluster_rank();
    uint64_t part = (hi - lo) / ranks, rest = (hi - lo) % ranks;
    uint64_t begin = lo + part * rank + (rank < rest ? rank : rest);

    return (range){begin, begin + part + (rank < rest)};
}

static int range_run(const char *function, uint32_t hash, range all, fi_work *work)
{
    range_bag *bag = NULL;
    int error = 0;

    if (all.lo < all.hi) {
        bag = range_make(NULL);
        if (bag)
            bag->left = range_share(all.lo, all.hi);
        else
            error = -ENOMEM;
    }
    work->ops = &range_ops;
    return fi_run(function, hash, work, bag, error);
}

int filch_cluster_for(uint64_t lo, uint64_t hi, uint64_t grain,
                      int (*body)(uint64_t lo, uint64_t hi, void *ctx), void *ctx)
{
    range_call call = {.grain = grain, .body = body, .ctx = ctx};
    fi_work work = {.ctx = &call};
    const uint64_t sizes[] = {lo, hi, grain};

    if (!body)
        return fi_run_null(__func__, "body", "a function");
    return range_run(__func__, fi_call_hash(FI_CALL_FOR, sizes, 3), (range){lo, hi}, &work);
}

int filch_cluster_reduce(uint64_t lo, uint64_t hi, uint64_t grain, void *acc, size_t size,
                         int (*map)(uint64_t lo, uint64_t hi, void *acc, void *ctx),
                         void (*combine)(void *acc, const void *other, void *ctx), void *ctx)
{
    range_call call = {.grain = grain, .map = map, .ctx = ctx};
    fi_work work = {
        .ctx = &call, .acc = acc, .acc_size = size, .combine = combine, .combine_ctx = ctx};
    const uint64_t sizes[] = {lo, hi, grain, size};

    if (!map)
        return fi_run_null(__func__, "map", "a function");
    return range_run(__func__, fi_call_hash(FI_CALL_REDUCE, sizes, 4), (range){lo, hi}, &work);
}
