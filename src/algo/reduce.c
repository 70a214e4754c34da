/* Reductions.  The tree of blocks depends only on the range and the grain, so the result does not
 * depend on the workers. */
#include "algo/check.h"

#include <filch/algo.h>
#include <filch/task.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#define BLOCKS 1024 /* of a range without a given grain */

typedef struct reduction {
    void (*map)(size_t lo, size_t hi, void *acc, void *ctx);
    int (*fallible_map)(size_t lo, size_t hi, void *acc,
                        void *ctx); /* instead of map, where an error stops the reduction */
    void (*combine)(void *acc, const void *other, void *ctx);
    void (*drop)(void *acc, void *ctx); /* may be NULL */
    void *ctx;
    void *result;
    const void *identity;
    size_t size;
    size_t lo, hi, grain;
    atomic_int error; /* the first one; relaxed, because no other data depends on it */
} reduction;

static void drop_value(const reduction *r, void *acc)
{
    if (r->drop)
        r->drop(acc, r->ctx);
}

/* Returns: false if the map has failed.  Then acc holds nothing. */
static bool map_fallible(reduction *r, size_t lo, size_t hi, void *acc)
{
    int none = 0;
    int e = r->fallible_map(lo, hi, acc, r->ctx);

    if (e == 0)
        return true;
    atomic_compare_exchange_strong_explicit(&r->error, &none, e, memory_order_relaxed,
                                            memory_order_relaxed);
    drop_value(r, acc);
    return false;
}

static bool map_block(reduction *r, size_t block, void *acc)
{
    size_t lo = r->lo + block * r->grain;
    size_t left = r->hi - lo;
    size_t hi = lo + (left < r->grain ? left : r->grain);

    if (r->fallible_map)
        return map_fallible(r, lo, hi, acc);
    r->map(lo, hi, acc, r->ctx);
    return true;
}

static bool has_failed(const reduction *r)
{
    return atomic_load_explicit(&r->error, memory_order_relaxed) != 0;
}

/* *acc is the identity.  Returns: true: acc holds the value of the blocks; false: it holds
 * nothing. */
FILCH_TASK(bool, reduce_blocks, reduction *, r, size_t, first, size_t, last, void *, acc)
{
    _Alignas(64) char right[FILCH_REDUCE_MAX];
    size_t middle = first + (last - first) / 2;
    bool has_left, has_right;

    if (has_failed(r))
        return false;
    if (last - first == 1)
        return map_block(r, first, acc);
    memcpy(right, r->identity, r->size);
    FILCH_SPAWN(reduce_blocks, r, middle, last, right);
    has_left = FILCH_CALL(reduce_blocks, r, first, middle, acc);
    has_right = FILCH_SYNC(reduce_blocks);
    if (has_left && has_right)
        r->combine(acc, right, r->ctx);
    else if (has_left)
        drop_value(r, acc);
    else if (has_right)
        drop_value(r, right);
    return has_left && has_right;
}

static int reduce_range(reduction *r, const char *function)
{
    _Alignas(64) char all[FILCH_REDUCE_MAX];

    if (fi_check_values(function, r->result, r->identity, r->size) < 0 ||
        fi_check_function(function, "map", r->map || r->fallible_map) < 0 ||
        fi_check_function(function, "combine", r->combine) < 0)
        return -EINVAL;
    if (r->hi <= r->lo)
        return 0;
    if (r->grain == 0)
        r->grain = (r->hi - r->lo) / BLOCKS + 1;
    memcpy(all, r->identity, r->size);
    if (FILCH_RUN(reduce_blocks, r, 0, (r->hi - r->lo - 1) / r->grain + 1, all))
        r->combine(r->result, all, r->ctx);
    return atomic_load_explicit(&r->error, memory_order_relaxed);
}

int filch_reduce(size_t lo, size_t hi, size_t grain, void *result, const void *identity,
                 size_t size, void (*map)(size_t lo, size_t hi, void *acc, void *ctx),
                 void (*combine)(void *acc, const void *other, void *ctx), void *ctx)
{
    reduction r = {map, NULL, combine, NULL, ctx, result, identity, size, lo, hi, grain, 0};

    return reduce_range(&r, "filch_reduce");
}

int filch_reduce_fallible(size_t lo, size_t hi, size_t grain, void *result, const void *identity,
                          size_t size, int (*map)(size_t lo, size_t hi, void *acc, void *ctx),
                          void (*combine)(void *acc, const void *other, void *ctx),
                          void (*drop)(void *acc, void *ctx), void *ctx)
{
    reduction r = {NULL, map, combine, drop, ctx, result, identity, size, lo, hi, grain, 0};

    return reduce_range(&r, "filch_reduce_fallible");
}
