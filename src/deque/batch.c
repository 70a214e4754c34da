/* A lock-free deque that grows.  The owner works LIFO at the bottom, a thief takes up to k items at
 * the top.
 *
 * After Chase and Lev (2005), with Kuchumov's (2016) steal of k items by one CAS.  Differences:
 *  - In Kuchumov's deque an owner within k of the top takes the OLDEST item by moving the top, as a
 *    thief would.  That breaks LIFO order where fork-join depends on it.  Here the word that
 *    thieves CAS holds a version beside the top index.  The owner bumps the version and keeps the
 *    newest item.  A thief that has read the old version fails its CAS.  A later one sees the lower
 *    bottom.
 *  - Kuchumov frees the old array when the deque grows, while a slow thief may still read it.  Here
 *    old arrays stay readable, are never written again, and are freed with the deque.  Each is half
 *    of its successor, so together they are smaller than the current one.
 *
 * Why k: the owner pops index b without touching the top if b >= top + k, because no thief that it
 * has not seen can reach that far.  See docs/memory-model.md and docs/decisions/001-batch-deque.md.
 *
 * Indices have 32 bits and wrap; sizes are differences.  A stalled thief claims wrongly only if
 * index and version both return to what it has read: after exactly n * 2^32 stolen items and
 * m * 2^32 bumps.
 */
#include "deque/deque.h"

#include "base/atomic.h"
#include "base/mem.h"
#include "deque/array.h"

#define DEFAULT_BATCH 8u

typedef struct array {
    fi_circular_array ring;
    struct array *older; /* retired; a thief may still read it */
} array;

typedef struct batch {
    fi_deque base;
    int32_t reach;                               /* k, max items of one steal; constant */
    bool no_thieves;                             /* only the owner steals; constant */
    FI_CACHE_ALIGNED FI_ATOMIC(uint32_t) bottom; /* written by the owner only */
    uint32_t top_seen;                           /* the owner's; never beyond the top */
    FI_ATOMIC(array *) current;                  /* written by the owner only, rarely */
    fi_deque_counts counts;                      /* the owner's; fills the cache line */
    FI_CACHE_ALIGNED FI_ATOMIC(uint64_t) top;    /* index and version; changed by CAS only */
} batch;

/* The index of the oldest item is in the high half, the version in the low half. */
static uint64_t tag_top(uint32_t top, uint32_t version)
{
    return (uint64_t)top << 32 | version;
}

static uint32_t top_index(uint64_t tagged)
{
    return (uint32_t)(tagged >> 32);
}

static uint64_t bump_version(uint64_t tagged)
{
    return tag_top(top_index(tagged), (uint32_t)tagged + 1);
}

static uint64_t advance_top(uint64_t tagged, uint32_t n)
{
    return tagged + ((uint64_t)n << 32);
}

static int32_t size_at(uint32_t bottom, uint64_t tagged)
{
    return (int32_t)(bottom - top_index(tagged));
}

static array *array_new(uint32_t capacity, array *older)
{
    array *a = FI_NEW(array);
    if (!a)
        return NULL;
    if (fi_circular_array_init(&a->ring, capacity) < 0) {
        FI_DELETE(array, a);
        return NULL;
    }
    a->older = older;
    return a;
}

static void array_free(array *a)
{
    fi_circular_array_fini(&a->ring);
    FI_DELETE(array, a);
}

static int batch_create(const fi_deque_config *config, fi_deque **out)
{
    batch *d = FI_NEW(batch);
    if (!d)
        return -ENOMEM;
    array *a = array_new(config->capacity, NULL);
    if (!a) {
        FI_DELETE(batch, d);
        return -ENOMEM;
    }
    d->base.ops = &fi_deque_batch;
    d->reach = (int32_t)(config->batch ? config->batch : DEFAULT_BATCH);
    d->no_thieves = config->no_thieves;
    d->top_seen = (uint32_t)config->first_index;
    fi_atomic_init(&d->bottom, (uint32_t)config->first_index);
    fi_atomic_init(&d->current, a);
    fi_atomic_init(&d->top, tag_top((uint32_t)config->first_index, 0));
    *out = &d->base;
    return 0;
}

static void batch_destroy(fi_deque *base)
{
    batch *d = (batch *)base;
    for (array *a = fi_load_relaxed(&d->current), *older; a; a = older) {
        older = a->older;
        array_free(a);
    }
    FI_DELETE(batch, d);
}

/* [owner] Double the capacity.  Items below top are gone and need no copy.  Returns: NULL without
 * memory. */
static array *batch_grow(batch *d, array *old, uint32_t top, uint32_t bottom)
{
    if (old->ring.capacity >= FI_DEQUE_MAX_CAPACITY)
        return NULL;
    array *a = array_new((uint32_t)old->ring.capacity * 2, old);
    if (!a)
        return NULL;
    /* The other slots stay zero.  steal relies on that: a thief with a stale top reads one of them
     * before its claim fails, and a slot that was never written must still hold a value. */
    for (uint32_t i = top; i != bottom; i++) {
        void *item = fi_load_item(fi_circular_array_at(&old->ring, i));
        fi_store_item(fi_circular_array_at(&a->ring, i), item);
    }
    /* -> batch.steal.array: the copies before the pointer to them; else a thief reads unwritten
     * slots. */
    fi_store_release(&d->current, a, batch.grow.array);
    if (FI_FAULT(batch.grow.keep)) {
        a->older = old->older;
        array_free(old);
    }
    fi_count(&d->counts.resizes);
    return a;
}

/* [owner] The array is full by the last value read from the top, so read it again. */
static bool batch_has_space(batch *d, const array *a, uint32_t b)
{
    /* <- batch.steal.claim: the thief that freed the slot has finished reading it. */
    d->top_seen = top_index(fi_load_acquire(&d->top, batch.push.top));
    return b - d->top_seen < a->ring.capacity;
}

/* [owner] */
FI_INLINE int batch_append(batch *d, const array *a, uint32_t b, void *item)
{
    fi_store_item(fi_circular_array_at(&a->ring, b), item);
    fi_count(&d->counts.pushes); /* before a thief can take it: see observe/sampler.c */
    /* -> batch.steal.bottom: the slot, the array, and what the item points to, before the index. */
    fi_store_release(&d->bottom, b + 1, batch.push.publish);
    return 0;
}

/* [owner] The array may be full.  Not inlined, so that the usual push saves no registers. */
static FI_NOINLINE int batch_push_slow(batch *d, array *a, uint32_t b, void *item)
{
    if (!batch_has_space(d, a, b)) {
        bool largest = a->ring.capacity >= FI_DEQUE_MAX_CAPACITY;
        a = batch_grow(d, a, d->top_seen, b);
        if (!a)
            return largest ? -ENOSPC : -ENOMEM;
    }
    return batch_append(d, a, b, item);
}

/* [owner] */
static int batch_push(fi_deque *base, void *item)
{
    batch *d = (batch *)base;
    uint32_t b = fi_load_relaxed(&d->bottom); /* the owner's last store, as is the array */
    array *a = fi_load_relaxed(&d->current);
    if (FI_UNLIKELY(b - d->top_seen >= a->ring.capacity))
        return batch_push_slow(d, a, b, item);
    return batch_append(d, a, b, item);
}

/* [owner] */
static void *batch_owner_item(batch *d, uint32_t index)
{
    array *a = fi_load_relaxed(&d->current); /* the owner's last store */
    return fi_load_item(fi_circular_array_at(&a->ring, index));
}

/* [owner] Within reach of thieves.  Makes thieves fail that have read the top already.  A failed
 * CAS means that some items were stolen, not all. */
static void *batch_pop_near_top(batch *d, uint32_t b, uint64_t tagged)
{
    while (size_at(b, tagged) >= 0) {
        /* -> batch.steal.fence, after its load of the top: a thief that sees the new version also
         * sees the lower bottom.  Without this, owner and thief take the same item. */
        if (fi_cas_release(&d->top, &tagged, bump_version(tagged), batch.pop.bump))
            return batch_owner_item(d, b);
    }
    /* All were stolen: empty again.  Relaxed: a reader of this finds top == bottom or fails its
     * CAS. */
    fi_store_relaxed(&d->bottom, b + 1);
    fi_count(&d->counts.bottom_restores);
    return NULL;
}

/* [owner] One full barrier in either case: the fence if the top is far, the CAS if it is near.
 * Without thieves there is none. */
static void *batch_try_pop(batch *d)
{
    uint32_t b = fi_load_relaxed(&d->bottom);   /* the owner's last store */
    uint64_t tagged = fi_load_relaxed(&d->top); /* stale: never shows fewer items */
    if (size_at(b, tagged) <= 0)
        return NULL;

    int32_t reach = FI_FAULT(batch.pop.reach) ? 1 : d->reach;
    b -= 1;
    /* -> batch.steal.bottom: a thief may read the index from here instead of push. */
    fi_store_release(&d->bottom, b, batch.pop.reserve);
    fi_count(&d->counts.bottom_decs);
    if (d->no_thieves)
        return batch_owner_item(d, b);
    if (size_at(b, tagged) < reach)
        return batch_pop_near_top(d, b, tagged);
    /* <-> batch.steal.fence: a thief that has not seen b has read bottom before, so the owner sees
     * its top, and it reaches less than k beyond that.  Without this, both take item b. */
    fi_fence_seq_cst(batch.pop.fence);
    tagged = fi_load_relaxed(&d->top); /* ordered by the fence */
    if (size_at(b, tagged) < reach)
        return batch_pop_near_top(d, b, tagged);
    return batch_owner_item(d, b);
}

/* [owner] */
static void *batch_pop(fi_deque *base)
{
    batch *d = (batch *)base;
    return fi_deque_count_pop(&d->counts, batch_try_pop(d));
}

/* [thief] Owns nothing until the claim succeeds, then the items but never the slots. */
static int batch_steal(fi_deque *base, void **out, uint32_t max)
{
    batch *d = (batch *)base;
    if (max == 0)
        return -EINVAL;
    uint64_t tagged =
        fi_load_relaxed(&d->top);        /* made an acquire by the fence: <- batch.pop.bump */
    fi_fence_seq_cst(batch.steal.fence); /* <-> batch.pop.fence, see there */
    /* <- batch.push.publish, batch.pop.reserve: else slots may be unwritten and items are lost. */
    uint32_t b = fi_load_acquire(&d->bottom, batch.steal.bottom);
    int32_t n = size_at(b, tagged);
    if (n <= 0)
        return FI_STEAL_EMPTY;

    /* <- batch.grow.array.  May be newer than bottom; then it has copies of all items that can be
     * claimed. */
    array *a = fi_load_acquire(&d->current, batch.steal.array);
    uint32_t take =
        fi_deque_steal_share((uint32_t)n, max < (uint32_t)d->reach ? max : (uint32_t)d->reach);
    for (uint32_t i = 0; i < take; i++)
        out[i] = fi_load_item(fi_circular_array_at(&a->ring, top_index(tagged) + i));
    /* -> batch.push.top: keeps the loads before the claim.  After it, push may reuse the slots. */
    if (!fi_cas_release(&d->top, &tagged, advance_top(tagged, take), batch.steal.claim))
        return fi_deque_lost_race(take);
    return (int)take;
}

static size_t batch_size(fi_deque *base)
{
    batch *d = (batch *)base;
    int32_t n = size_at(fi_load_relaxed(&d->bottom), fi_load_relaxed(&d->top));
    return n > 0 ? (size_t)n : 0;
}

static size_t batch_capacity(fi_deque *base)
{
    return fi_load_relaxed(&((batch *)base)->current)->ring.capacity;
}

static uint32_t batch_top(fi_deque *base)
{
    return top_index(fi_load_relaxed(&((batch *)base)->top));
}

static fi_deque_counts *batch_counts(fi_deque *base)
{
    return &((batch *)base)->counts;
}

const fi_deque_ops fi_deque_batch = {
    .name = "batch",
    .fifo = false,
    .create = batch_create,
    .destroy = batch_destroy,
    .push = batch_push,
    .pop = batch_pop,
    .steal = batch_steal,
    .size = batch_size,
    .capacity = batch_capacity,
    .top = batch_top,
    .counts = batch_counts,
    .bottom_offset = offsetof(batch, bottom),
    .top_offset = offsetof(batch, top) + sizeof(uint32_t), /* the high half */
};
