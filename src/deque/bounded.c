/* A lock-free deque of fixed size.  The owner works LIFO at the bottom, thieves take single items
 * at the top.
 *
 * After Chase and Lev (2005) in the C11 form of Le et al. (2013), without growth.  bthread's
 * WorkStealingQueue is the same algorithm.  Differences from the published orders, each found by
 * the explorer in tests/model: - pop stores bottom with release.  Published as relaxed, that store
 * ends the release sequence
 *    which push began.  A thief that reads bottom from it may find the slot unwritten, and the item
 *    is lost.
 * - top is loaded relaxed in steal: the fence after it makes it an acquire. - the owner's CAS on
 * top is relaxed: the owner has written the item itself.
 *
 * top <= bottom + 1 at all times; bottom + 1 == top only inside pop.
 */
#include "deque/bounded_base.h"

static int bounded_create(const fi_deque_config *config, fi_deque **out)
{
    if (config->batch > 1)
        return -EINVAL;
    return fi_bounded_base_new(&fi_deque_bounded, config, out);
}

/* [owner] The owner takes the last item by a CAS on top, as a thief does. */
static void *bounded_take_last(fi_bounded_base *d, uint64_t index)
{
    void *item = fi_load_item(fi_circular_array_at(&d->ring, index));
    uint64_t t = index;
    return fi_cas_relaxed(&d->top, &t, index + 1) ? item : NULL;
}

/* [owner] */
static void *bounded_try_pop(fi_bounded_base *d)
{
    uint64_t b = fi_load_relaxed(&d->bottom); /* the owner's last store */
    uint64_t t = fi_load_relaxed(&d->top);    /* stale: smaller, so never falsely empty */
    if ((int64_t)(b - t) <= 0)
        return NULL;

    b -= 1;
    /* -> bounded.steal.bottom: a thief may read the index from here instead of push, and must find
     * the slots below it written. */
    fi_store_release(&d->bottom, b, bounded.pop.reserve);
    fi_count(&d->counts.bottom_decs);
    /* <-> bounded.steal.fence.  The owner writes bottom, then reads top; a thief reads top, then
     * bottom.  With both fences one of them sees the other.  Without either, both take the item. */
    fi_fence_seq_cst(bounded.pop.fence);
    t = fi_load_relaxed(&d->top); /* ordered by the fence; if stale, the thief has seen b */

    if ((int64_t)(b - t) > 0)
        return fi_load_item(fi_circular_array_at(&d->ring, b));
    void *item = b == t ? bounded_take_last(d, b) : NULL;
    /* Empty: top == bottom.  Relaxed: a reader of this finds that or fails its CAS. */
    fi_store_relaxed(&d->bottom, b + 1);
    fi_count(&d->counts.bottom_restores);
    return item;
}

/* [owner] */
static void *bounded_pop(fi_deque *base)
{
    fi_bounded_base *d = (fi_bounded_base *)base;
    return fi_deque_count_pop(&d->counts, bounded_try_pop(d));
}

/* [thief] Owns nothing until the claim succeeds, then the item but never the slot. */
static int bounded_steal(fi_deque *base, void **out, uint32_t max)
{
    fi_bounded_base *d = (fi_bounded_base *)base;
    if (max == 0)
        return -EINVAL;
    uint64_t t = fi_load_relaxed(&d->top); /* made an acquire by the fence */
    fi_fence_seq_cst(bounded.steal.fence); /* <-> bounded.pop.fence, see there */
    /* <- bounded_base.push.publish, bounded.pop.reserve: else the slot may be unwritten and the
     * item is lost. */
    uint64_t b = fi_load_acquire(&d->bottom, bounded.steal.bottom);
    if ((int64_t)(b - t) <= 0)
        return FI_STEAL_EMPTY;

    void *item = fi_load_item(fi_circular_array_at(
        &d->ring, t)); /* before the claim; after it, push may reuse the slot */
    /* -> bounded_base.push.top: keeps the load before the claim. */
    if (!fi_cas_release(&d->top, &t, t + 1, bounded.steal.claim))
        return FI_STEAL_LOST;
    out[0] = item;
    return 1;
}

const fi_deque_ops fi_deque_bounded = {
    .name = "bounded",
    .fifo = false,
    .create = bounded_create,
    .destroy = fi_bounded_base_free,
    .push = fi_bounded_base_push,
    .pop = bounded_pop,
    .steal = bounded_steal,
    .size = fi_bounded_base_size,
    .capacity = fi_bounded_base_capacity,
    .top = fi_bounded_base_top,
    .counts = fi_bounded_base_counts,
    .bottom_offset = offsetof(fi_bounded_base, bottom),
    .top_offset = offsetof(fi_bounded_base, top),
};
