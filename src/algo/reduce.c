/* Reductions.  The tree of blocks depends only on the range and the grain, so the result does not
 * depend on the workers. */
#include <filch/algo.h>
#include <filch/task.h>

#include <errno.h>
#include <string.h>

#define BLOCKS 1024 /* of a range without a given grain */

typedef struct reduction {
    void (*map)(size_t lo, size_t hi, void *acc, void *ctx);
    void (*combine)(void *acc, const void *other, void *ctx);
    void *ctx;
    const void *identity;
    size_t size;
    size_t lo, hi, grain;
} reduction;

static void map_block(const reduction *r, size_t block, void *acc)
{
    size_t lo = r->lo + block * r->grain;
    size_t left = r->hi - lo;

    r->map(lo, lo + (left < r->grain ? left : r->grain), acc, r->ctx);
}

/* *acc is the identity. */
FILCH_VOID_TASK(reduce_blocks, const reduction *, r, size_t, first, size_t, last, void *, acc)
{
    _Alignas(64) char right[FILCH_REDUCE_MAX];
    size_t middle = first + (last - first) / 2;

    if (last - first == 1) {
        map_block(r, first, acc);
        return;
    }
    memcpy(right, r->identity, r->size);
    FILCH_SPAWN(reduce_blocks, r, middle, last, right);
    FILCH_CALL(reduce_blocks, r, first, middle, acc);
    FILCH_SYNC(reduce_blocks);
    r->combine(acc, right, r->ctx);
}

int filch_reduce(size_t lo, size_t hi, size_t grain, void *acc, size_t size,
                 void (*map)(size_t lo, size_t hi, void *acc, void *ctx),
                 void (*combine)(void *acc, const void *other, void *ctx), void *ctx)
{
    char identity[FILCH_REDUCE_MAX];
    reduction r = {map, combine, ctx, identity, size, lo, hi, grain};

    if (size > FILCH_REDUCE_MAX)
        return -EINVAL;
    if (hi <= lo)
        return 0;
    if (grain == 0)
        r.grain = (hi - lo) / BLOCKS + 1;
    memcpy(identity, acc, size);
    FILCH_RUN(reduce_blocks, &r, 0, (hi - lo - 1) / r.grain + 1, acc);
    return 0;
}
