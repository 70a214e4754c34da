/* A lock-free deque that grows; the owner works LIFO at the bottom, a thief takes up to k at the
 * top.
 *
 * After Chase and Lev (2005), with Kuchumov's (2016) steal of k items by one CAS.  Differences:
 *  - In Kuchumov's deque the owner, when within k of the top, takes the OLDEST item by moving the
 * top, as a thief would.  That breaks LIFO just where fork-join depends on it.  Here the word that
 * thieves CAS holds a version beside the index; the owner bumps the version ("bars the door") and
 * keeps the newest item: every thief that looked before fails its CAS, every later one sees the
 * lower bottom.
 *  - He frees the old array as he grows, while a slow thief may still read it.  Here old arrays
 * stay readable, are never written again, and are freed with the deque.  Each is half of its
 * successor, so together they are smaller than the one in use.
 *
 * Why k: the owner pops index b without touching the door if b >= top + k, for no thief that it has
 * not seen can reach that far.  See docs/memory-model.md and docs/decisions/001-batch-deque.md.
 *
 * Indices are 32 bits and wrap; sizes are differences.  A stalled thief is fooled only if index and
 * version both return to what it saw: after exactly n * 2^32 items stolen and m * 2^32 bars.
 */
#include "deque/deque.h"

#include "base/atomic.h"
#include "base/mem.h"
#include "deque/array.h"

#define DEFAULT_BATCH 8u

typedef struct array {
    fi_circular_array ring;
    struct array *older; /* retired, but a thief may still be reading it */
} array;

typedef struct batch {
    fi_deque base;
    int32_t reach;                               /* k, the most that one steal takes; constant */
    FI_CACHE_ALIGNED FI_ATOMIC(uint32_t) bottom; /* written by the owner alone */
    uint32_t top_seen;                           /* the owner's; never more than the top */
    FI_ATOMIC(array *) current;                  /* written by the owner alone, rarely */
    fi_deque_counts counts;                      /* the owner's; fills the line */
    FI_CACHE_ALIGNED FI_ATOMIC(uint64_t) door;   /* top index and version; moved by CAS alone */
} batch;

/* The door: index of the oldest item in the high half, version in the low half. */
static uint64_t door_at(uint32_t top, uint32_t version)
{
    return (uint64_t)top << 32 | version;
}

static uint32_t door_top(uint64_t door)
{
    return (uint32_t)(door >> 32);
}

static uint64_t door_barred(uint64_t door)
{
    return door_at(door_top(door), (uint32_t)door + 1);
}

static uint64_t door_moved(uint64_t door, uint32_t n)
{
    return door + ((uint64_t)n << 32);
}

static int32_t distance(uint32_t bottom, uint64_t door)
{
    return (int32_t)(bottom - door_top(door));
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

static int create(const fi_deque_config *config, fi_deque **out)
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
    d->top_seen = (uint32_t)config->first_index;
    fi_atomic_init(&d->bottom, (uint32_t)config->first_index);
    fi_atomic_init(&d->current, a);
    fi_atomic_init(&d->door, door_at((uint32_t)config->first_index, 0));
    *out = &d->base;
    return 0;
}

static void destroy(fi_deque *base)
{
    batch *d = (batch *)base;
    for (array *a = fi_load_relaxed(&d->current), *older; a; a = older) {
        older = a->older;
        array_free(a);
    }
    FI_DELETE(batch, d);
}

/* [owner] Twice the room, or NULL.  Items below top are gone already; copying them is not needed.
 */
static array *grow(batch *d, array *old, uint32_t top, uint32_t bottom)
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

/* [owner] Is there room?  Asks thieves' end only when what was last seen of it says no. */
static bool has_room(batch *d, const array *a, uint32_t b)
{
    if (b - d->top_seen < a->ring.capacity)
        return true;
    /* <- batch.steal.claim: the thief that freed the slot has finished reading it. */
    d->top_seen = door_top(fi_load_acquire(&d->door, batch.push.door));
    return b - d->top_seen < a->ring.capacity;
}

/* [owner] */
static int push(fi_deque *base, void *item)
{
    batch *d = (batch *)base;
    uint32_t b = fi_load_relaxed(&d->bottom); /* our own last store, as is the array */
    array *a = fi_load_relaxed(&d->current);
    if (!has_room(d, a, b)) {
        bool largest = a->ring.capacity >= FI_DEQUE_MAX_CAPACITY;
        a = grow(d, a, d->top_seen, b);
        if (!a)
            return largest ? -ENOSPC : -ENOMEM;
    }
    fi_store_item(fi_circular_array_at(&a->ring, b), item);
    fi_count(&d->counts.pushes); /* before anybody can take it: see observe/sampler.c */
    /* -> batch.steal.bottom: the slot, the array, and what the item points to, before the index. */
    fi_store_release(&d->bottom, b + 1, batch.push.publish);
    return 0;
}

/* [owner] */
static void *own_item(batch *d, uint32_t index)
{
    array *a = fi_load_relaxed(&d->current); /* our own last store */
    return fi_load_item(fi_circular_array_at(&a->ring, index));
}

/* [owner] Within reach of thieves: make those who looked before us fail.  A CAS that fails means
 * that some were stolen, not that all were. */
static void *pop_near(batch *d, uint32_t b, uint64_t door)
{
    while (distance(b, door) >= 0) {
        /* -> batch.steal.fence, after its load of the door: whoever sees the new version sees the
         * lower bottom too.  Without, the thief takes what we take. */
        if (fi_cas_release(&d->door, &door, door_barred(door), batch.pop.bar))
            return own_item(d, b);
    }
    /* All stolen: back to empty.  Relaxed: whoever reads this finds top == bottom or fails its CAS.
     */
    fi_store_relaxed(&d->bottom, b + 1);
    fi_count(&d->counts.bottom_restores);
    return NULL;
}

/* [owner] One full barrier either way: the fence if the top seems far, the CAS if it is near. */
static void *try_pop(batch *d)
{
    uint32_t b = fi_load_relaxed(&d->bottom);  /* our own last store */
    uint64_t door = fi_load_relaxed(&d->door); /* stale: looks farther than it is, never emptier */
    if (distance(b, door) <= 0)
        return NULL;

    int32_t reach = FI_FAULT(batch.pop.reach) ? 1 : d->reach;
    b -= 1;
    /* -> batch.steal.bottom: a thief may read the index from here instead of from push. */
    fi_store_release(&d->bottom, b, batch.pop.reserve);
    fi_count(&d->counts.bottom_decs);
    if (distance(b, door) < reach)
        return pop_near(d, b, door);
    /* <-> batch.steal.fence: a thief that did not see b looked before us, so we see its top, and it
     * reaches less than k beyond that.  Without, both take item b. */
    fi_fence_seq_cst(batch.pop.fence);
    door = fi_load_relaxed(&d->door); /* ordered by the fence */
    if (distance(b, door) < reach)
        return pop_near(d, b, door);
    return own_item(d, b);
}

/* [owner] */
static void *pop(fi_deque *base)
{
    batch *d = (batch *)base;
    return fi_deque_count_pop(&d->counts, try_pop(d));
}

/* [thief] Owns nothing until the claim succeeds; then the items, never the slots. */
static int steal(fi_deque *base, void **out, uint32_t max)
{
    batch *d = (batch *)base;
    if (max == 0)
        return -EINVAL;
    uint64_t door = fi_load_relaxed(&d->door); /* made an acquire by the fence: <- batch.pop.bar */
    fi_fence_seq_cst(batch.steal.fence);       /* <-> batch.pop.fence, see there */
    /* <- batch.push.publish, batch.pop.reserve: else slots may be unwritten: items are lost. */
    uint32_t b = fi_load_acquire(&d->bottom, batch.steal.bottom);
    int32_t n = distance(b, door);
    if (n <= 0)
        return FI_STEAL_EMPTY;

    /* <- batch.grow.array.  May be newer than bottom: it then holds copies of all that we can
     * claim. */
    array *a = fi_load_acquire(&d->current, batch.steal.array);
    uint32_t take =
        fi_deque_steal_share((uint32_t)n, max < (uint32_t)d->reach ? max : (uint32_t)d->reach);
    for (uint32_t i = 0; i < take; i++)
        out[i] = fi_load_item(fi_circular_array_at(&a->ring, door_top(door) + i));
    /* -> batch.push.door: keeps those loads before the claim; after it, push may reuse the slots.
     */
    if (!fi_cas_release(&d->door, &door, door_moved(door, take), batch.steal.claim))
        return fi_deque_lost_race(take);
    return (int)take;
}

static size_t size(fi_deque *base)
{
    batch *d = (batch *)base;
    int32_t n = distance(fi_load_relaxed(&d->bottom), fi_load_relaxed(&d->door));
    return n > 0 ? (size_t)n : 0;
}

static size_t capacity(fi_deque *base)
{
    return fi_load_relaxed(&((batch *)base)->current)->ring.capacity;
}

static uint32_t top(fi_deque *base)
{
    return door_top(fi_load_relaxed(&((batch *)base)->door));
}

static fi_deque_counts *counts(fi_deque *base)
{
    return &((batch *)base)->counts;
}

const fi_deque_ops fi_deque_batch = {
    .name = "batch",
    .fifo = false,
    .create = create,
    .destroy = destroy,
    .push = push,
    .pop = pop,
    .steal = steal,
    .size = size,
    .capacity = capacity,
    .top = top,
    .counts = counts,
};
