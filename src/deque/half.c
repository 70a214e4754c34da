/* A lock-free FIFO ring of fixed size: owner and thieves both take at the head; a thief takes half.
 *
 * Go's local run queue.  Since the owner, too, moves the head by CAS, nobody needs a seq_cst fence,
 * and a steal of any number of items is safe: whoever else moved the head makes the CAS fail. The
 * head is "top" here, the tail "bottom", as in the other kinds.
 */
#include "deque/deque.h"

#include "base/atomic.h"
#include "base/mem.h"
#include "deque/ring.h"

typedef struct half {
    fi_deque base;
    fi_ring ring;
    uint32_t batch;
    FI_CACHE_ALIGNED FI_ATOMIC(uint64_t) bottom; /* written by the owner alone */
    uint64_t top_seen;                           /* the owner's; never more than top */
    FI_CACHE_ALIGNED FI_ATOMIC(uint64_t) top;    /* moved by CAS alone, by anyone */
} half;

static int create(const fi_deque_config *config, fi_deque **out)
{
    half *d = FI_NEW(half);
    if (!d)
        return -ENOMEM;
    if (fi_ring_init(&d->ring, config->capacity) < 0) {
        FI_DELETE(half, d);
        return -ENOMEM;
    }
    d->base.kind = &fi_deque_half;
    d->batch = config->batch ? config->batch : UINT32_MAX;
    d->top_seen = config->first_index;
    fi_atomic_init(&d->bottom, config->first_index);
    fi_atomic_init(&d->top, config->first_index);
    *out = &d->base;
    return 0;
}

static void destroy(fi_deque *base)
{
    half *d = (half *)base;
    fi_ring_fini(&d->ring);
    FI_DELETE(half, d);
}

/* [owner] Is there room?  Asks the common end only when what was last seen of it says no. */
static bool has_room(half *d, uint64_t b)
{
    if (b - d->top_seen < d->ring.capacity)
        return true;
    /* <- half.steal.claim: the thief that freed the slot has finished reading it. */
    d->top_seen = fi_load_acquire(&d->top, half.push.top);
    return b - d->top_seen < d->ring.capacity;
}

/* [owner] When full, the caller hands half to another queue: a steal from its own ring gives just
 * that. */
static int push(fi_deque *base, void *item)
{
    half *d = (half *)base;
    uint64_t b = fi_load_relaxed(&d->bottom); /* our own last store */
    if (!has_room(d, b))
        return -ENOSPC;
    fi_store_item(fi_ring_at(&d->ring, b), item);
    /* -> half.steal.bottom: the slot, and what the item points to, before the index that shows it.
     */
    fi_store_release(&d->bottom, b + 1, half.push.publish);
    return 0;
}

/* [owner] A failed CAS means that thieves took some: look again.  At most as often as they steal.
 */
static void *pop(fi_deque *base)
{
    half *d = (half *)base;
    uint64_t b = fi_load_relaxed(&d->bottom); /* our own last store */
    uint64_t t = fi_load_relaxed(&d->top);    /* stale: the CAS fails and brings a newer one */
    while (t != b) {
        void *item = fi_load_item(fi_ring_at(&d->ring, t)); /* we wrote it ourselves */
        if (fi_cas_relaxed(&d->top, &t, t + 1))
            return item;
    }
    return NULL;
}

/* [thief] Owns nothing until the claim succeeds; then the items, never the slots. */
static int steal(fi_deque *base, void **out, uint32_t max)
{
    half *d = (half *)base;
    if (max == 0)
        return -EINVAL;
    uint64_t t = fi_load_relaxed(&d->top); /* stale: n may be too large, and the claim fails */
    /* <- half.push.publish: else the slots may be unwritten: items are lost. */
    uint64_t b = fi_load_acquire(&d->bottom, half.steal.bottom);
    int64_t n = (int64_t)(b - t);
    if (n <= 0)
        return FI_STEAL_EMPTY;

    uint32_t take = fi_deque_share((uint64_t)n, max < d->batch ? max : d->batch);
    for (uint32_t i = 0; i < take; i++)
        out[i] = fi_load_item(fi_ring_at(&d->ring, t + i));
    /* -> half.push.top: keeps those loads before the claim; after it, push may reuse the slots. */
    if (!fi_cas_release(&d->top, &t, t + take, half.steal.claim))
        return FI_STEAL_LOST;
    return (int)take;
}

static size_t size(fi_deque *base)
{
    half *d = (half *)base;
    int64_t n = (int64_t)(fi_load_relaxed(&d->bottom) - fi_load_relaxed(&d->top));
    return n > 0 ? (size_t)n : 0;
}

static size_t capacity(fi_deque *base)
{
    return ((half *)base)->ring.capacity;
}

const fi_deque_kind fi_deque_half = {
    .name = "half",
    .fifo = true,
    .create = create,
    .destroy = destroy,
    .push = push,
    .pop = pop,
    .steal = steal,
    .size = size,
    .capacity = capacity,
};
