/* A lock-free deque of fixed size: the owner works LIFO at the bottom, thieves take single items at
 * the top.
 *
 * After Chase and Lev (2005) in the C11 form of Le et al. (2013), without growth; bthread's
 * WorkStealingQueue is the same algorithm.  Differences from the published orders, each found by
 * the explorer in tests/model:
 *  - pop stores bottom with release.  Published as relaxed, that store ends the release sequence
 * which push began; a thief that reads bottom from it may find the slot unwritten, and the item is
 * lost.
 *  - top is loaded relaxed in steal: the fence behind it already makes it an acquire.
 *  - the owner's CAS on top is relaxed: what it takes, it wrote itself.
 *
 * Indices only grow and are masked on access.  They are unsigned and compared by their difference,
 * so they may wrap.  top <= bottom + 1 at all times; bottom + 1 == top only while pop looks.
 */
#include "deque/deque.h"

#include "base/atomic.h"
#include "base/mem.h"
#include "deque/ring.h"

typedef struct bounded {
    fi_deque base;
    fi_ring ring;
    FI_CACHE_ALIGNED FI_ATOMIC(uint64_t) bottom; /* written by the owner alone */
    uint64_t top_seen;                           /* the owner's; never more than top */
    FI_CACHE_ALIGNED FI_ATOMIC(uint64_t) top;    /* moved by CAS alone, by anyone */
} bounded;

static int create(const fi_deque_config *config, fi_deque **out)
{
    if (config->batch > 1)
        return -EINVAL;
    bounded *d = FI_NEW(bounded);
    if (!d)
        return -ENOMEM;
    if (fi_ring_init(&d->ring, config->capacity) < 0) {
        FI_DELETE(bounded, d);
        return -ENOMEM;
    }
    d->base.kind = &fi_deque_bounded;
    d->top_seen = config->first_index;
    fi_atomic_init(&d->bottom, config->first_index);
    fi_atomic_init(&d->top, config->first_index);
    *out = &d->base;
    return 0;
}

static void destroy(fi_deque *base)
{
    bounded *d = (bounded *)base;
    fi_ring_fini(&d->ring);
    FI_DELETE(bounded, d);
}

/* [owner] Is there room?  Asks thieves' end only when what was last seen of it says no. */
static bool has_room(bounded *d, uint64_t b)
{
    if (b - d->top_seen < d->ring.capacity)
        return true;
    /* <- bounded.steal.claim: the thief that freed the slot has finished reading it.  Without, our
     * new item may land in its hands as well: taken twice, and the old one lost. */
    d->top_seen = fi_load_acquire(&d->top, bounded.push.top);
    return b - d->top_seen < d->ring.capacity;
}

/* [owner] */
static int push(fi_deque *base, void *item)
{
    bounded *d = (bounded *)base;
    uint64_t b = fi_load_relaxed(&d->bottom); /* our own last store */
    if (!has_room(d, b))
        return -ENOSPC;

    fi_store_item(fi_ring_at(&d->ring, b), item);
    /* -> bounded.steal.bottom: the slot, and what the item points to, before the index that shows
     * it. */
    fi_store_release(&d->bottom, b + 1, bounded.push.publish);
    return 0;
}

/* [owner] The last item is fought for with a CAS on top, exactly as a thief would. */
static void *take_last(bounded *d, uint64_t index)
{
    void *item = fi_load_item(fi_ring_at(&d->ring, index));
    uint64_t t = index;
    return fi_cas_relaxed(&d->top, &t, index + 1) ? item : NULL;
}

/* [owner] */
static void *pop(fi_deque *base)
{
    bounded *d = (bounded *)base;
    uint64_t b = fi_load_relaxed(&d->bottom); /* our own last store */
    uint64_t t =
        fi_load_relaxed(&d->top); /* a stale top is smaller: it cannot say "empty" wrongly */
    if ((int64_t)(b - t) <= 0)
        return NULL;

    b -= 1;
    /* -> bounded.steal.bottom: a thief may read the index from here instead of from push, and must
     * find the slots below it written all the same. */
    fi_store_release(&d->bottom, b, bounded.pop.reserve);
    /* <-> bounded.steal.fence.  We write bottom, then read top; a thief reads top, then bottom.
     * With both fences one of us sees the other; without either, both take the same item. */
    fi_fence_seq_cst(bounded.pop.fence);
    t = fi_load_relaxed(&d->top); /* ordered by the fence; if stale all the same, the thief saw b */

    if ((int64_t)(b - t) > 0)
        return fi_load_item(fi_ring_at(&d->ring, b));
    void *item = b == t ? take_last(d, b) : NULL;
    /* Empty in its normal form.  Relaxed: whoever reads this finds top == bottom or fails its CAS.
     */
    fi_store_relaxed(&d->bottom, b + 1);
    return item;
}

/* [thief] Owns nothing until the claim succeeds; then the item, never the slot. */
static int steal(fi_deque *base, void **out, uint32_t max)
{
    bounded *d = (bounded *)base;
    if (max == 0)
        return -EINVAL;
    uint64_t t = fi_load_relaxed(&d->top); /* made an acquire by the fence */
    fi_fence_seq_cst(bounded.steal.fence); /* <-> bounded.pop.fence, see there */
    /* <- bounded.push.publish, bounded.pop.reserve: else the slot may be unwritten: the item is
     * lost. */
    uint64_t b = fi_load_acquire(&d->bottom, bounded.steal.bottom);
    if ((int64_t)(b - t) <= 0)
        return FI_STEAL_EMPTY;

    void *item = fi_load_item(
        fi_ring_at(&d->ring, t)); /* before the claim: after it, push may reuse the slot */
    /* -> bounded.push.top: keeps that load before the claim. */
    if (!fi_cas_release(&d->top, &t, t + 1, bounded.steal.claim))
        return FI_STEAL_LOST;
    out[0] = item;
    return 1;
}

static size_t size(fi_deque *base)
{
    bounded *d = (bounded *)base;
    int64_t n = (int64_t)(fi_load_relaxed(&d->bottom) - fi_load_relaxed(&d->top));
    return n > 0 ? (size_t)n : 0;
}

static size_t capacity(fi_deque *base)
{
    return ((bounded *)base)->ring.capacity;
}

const fi_deque_kind fi_deque_bounded = {
    .name = "bounded",
    .fifo = false,
    .create = create,
    .destroy = destroy,
    .push = push,
    .pop = pop,
    .steal = steal,
    .size = size,
    .capacity = capacity,
};
