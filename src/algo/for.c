/* Parallel loops.  A loop is split when a worker is hungry. */
#include "algo/check.h"

#include <filch/algo.h>
#include <filch/task.h>

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>

/* A range without a given grain has this many chunks.  The loop tests for hungry workers after
 * each. */
#define CHUNKS 1024
/* A large grain is a multiple of this, so that every chunk starts where a vector loop is
 * aligned. */
#define VECTOR 64
/* In a long range a chunk is at least this share of the rest: 1 / 2^7. */
#define SHARE_SHIFT    7
#define NO_SHARE_SHIFT (sizeof(size_t) * CHAR_BIT - 1)

typedef struct loop {
    void (*body)(size_t lo, size_t hi, void *ctx);
    int (*fallible_body)(size_t lo, size_t hi,
                         void *ctx); /* instead of body, where an error stops the loop */
    void *ctx;
    size_t grain;
    size_t share_shift;
    atomic_int error; /* the first one; relaxed, because no other data depends on it */
} loop;

/* Returns: false if the loop has failed. */
static bool run_fallible_chunk(loop *l, size_t lo, size_t hi)
{
    int none = 0;
    int e;

    if (atomic_load_explicit(&l->error, memory_order_relaxed) != 0)
        return false;
    e = l->fallible_body(lo, hi, l->ctx);
    if (e == 0)
        return true;
    atomic_compare_exchange_strong_explicit(&l->error, &none, e, memory_order_relaxed,
                                            memory_order_relaxed);
    return false;
}

static inline bool run_chunk(loop *l, size_t lo, size_t hi)
{
    if (l->fallible_body)
        return run_fallible_chunk(l, lo, hi);
    l->body(lo, hi, l->ctx);
    return true;
}

/* Large chunks first: while much is left, a hungry worker can wait for the end of one. */
static inline size_t chunk_size(const loop *l, size_t left)
{
    size_t share = left >> l->share_shift;

    return share > l->grain ? share / VECTOR * VECTOR : l->grain;
}

/* Half of what is left, in whole grains. */
static size_t half_in_grains(const loop *l, size_t left)
{
    return ((left - 1) / l->grain + 1) / 2 * l->grain;
}

/* A plain loop while no worker is hungry.  A hungry worker gets half of what is left. */
FILCH_VOID_TASK(run_range, loop *, l, size_t, lo, size_t, hi)
{
    int spawned = 0;

    while (hi - lo > l->grain) {
        if (FILCH_HUNGRY()) {
            size_t middle = lo + half_in_grains(l, hi - lo);
            FILCH_SPAWN(run_range, l, middle, hi);
            hi = middle;
            spawned++;
        } else {
            size_t next = lo + chunk_size(l, hi - lo);
            if (!run_chunk(l, lo, next))
                hi = next; /* so the last chunk does not run either */
            lo = next;
        }
    }
    run_chunk(l, lo, hi);
    for (; spawned > 0; spawned--)
        FILCH_SYNC(run_range);
}

/* The same for chunks of one size and a body that cannot fail.  Its loop has few instructions,
 * because a chunk may be one element: it keeps all values in registers.  No chunk after `last` has
 * the size of a grain. */
FILCH_VOID_TASK(run_grains, loop *, l, size_t, lo, size_t, hi)
{
    void (*body)(size_t lo, size_t hi, void *ctx) = l->body;
    void *ctx = l->ctx;
    size_t grain = l->grain, last = hi - lo > grain ? hi - grain : lo;
    int spawned = 0;

    while (lo < last) {
        if (FILCH_HUNGRY()) {
            size_t middle = lo + half_in_grains(l, hi - lo);
            FILCH_SPAWN(run_grains, l, middle, hi);
            hi = middle;
            last = middle - grain;
            spawned++;
        } else {
            body(lo, lo + grain, ctx);
            lo += grain;
        }
    }
    body(lo, hi, ctx);
    for (; spawned > 0; spawned--)
        FILCH_SYNC(run_grains);
}

static void choose_grain(loop *l, size_t n)
{
    l->grain = (n - 1) / CHUNKS + 1;
    if (l->grain < VECTOR)
        return;
    l->grain = (l->grain - 1) / VECTOR * VECTOR + VECTOR;
    l->share_shift = SHARE_SHIFT;
}

static void run_loop(loop *l, size_t lo, size_t hi)
{
    if (hi <= lo)
        return;
    l->share_shift = NO_SHARE_SHIFT;
    if (l->grain == 0)
        choose_grain(l, hi - lo);
    if (l->body && l->share_shift == NO_SHARE_SHIFT)
        FILCH_RUN(run_grains, l, lo, hi);
    else
        FILCH_RUN(run_range, l, lo, hi);
}

void filch_for(size_t lo, size_t hi, size_t grain, void (*body)(size_t lo, size_t hi, void *ctx),
               void *ctx)
{
    loop l = {.body = body, .ctx = ctx, .grain = grain};

    if (fi_check_function("filch_for", "body", body) < 0)
        return;
    run_loop(&l, lo, hi);
}

int filch_for_fallible(size_t lo, size_t hi, size_t grain,
                       int (*body)(size_t lo, size_t hi, void *ctx), void *ctx)
{
    loop l = {.fallible_body = body, .ctx = ctx, .grain = grain};

    if (fi_check_function("filch_for_fallible", "body", body) < 0)
        return -EINVAL;
    run_loop(&l, lo, hi);
    return atomic_load_explicit(&l.error, memory_order_relaxed);
}
