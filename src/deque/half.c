/* A lock-free FIFO queue of fixed size.  Owner and thieves take at the head, a thief takes half.
 *
 * This is Go's local run queue.  The owner also moves the head by CAS, so no seq_cst fence is
 * needed, and a steal of any number of items is safe: the CAS fails if another party has moved the
 * head. The head is "top" here and the tail "bottom", as in the other kinds.  A pop moves the top
 * and never lowers the bottom.
 */
#include "deque/bounded_base.h"

static int half_create(const fi_deque_config *config, fi_deque **out)
{
    return fi_bounded_base_new(&fi_deque_half, config, out);
}

/* [owner] A failed CAS means that a thief has taken items.  Retries at most once for each steal. */
static void *half_try_pop(fi_bounded_base *d)
{
    uint64_t b = fi_load_relaxed(&d->bottom); /* the owner's last store */
    uint64_t t = fi_load_relaxed(&d->top);    /* stale: the CAS fails and loads a newer value */
    while (t != b) {
        void *item = fi_load_item(fi_circular_array_at(&d->ring, t)); /* written by the owner */
        if (fi_cas_relaxed(&d->top, &t, t + 1))
            return item;
    }
    return NULL;
}

/* [owner] */
static void *half_pop(fi_deque *base)
{
    fi_bounded_base *d = (fi_bounded_base *)base;
    return fi_deque_count_pop(&d->counts, half_try_pop(d));
}

/* [thief] Owns nothing until the claim succeeds, then the items but never the slots. */
static int half_steal(fi_deque *base, void **out, uint32_t max)
{
    fi_bounded_base *d = (fi_bounded_base *)base;
    if (max == 0)
        return -EINVAL;
    uint64_t t = fi_load_relaxed(&d->top); /* stale: n is too large, and the claim fails */
    /* <- bounded_base.push.publish: else the slots may be unwritten and items are lost. */
    uint64_t b = fi_load_acquire(&d->bottom, half.steal.bottom);
    int64_t n = (int64_t)(b - t);
    if (n <= 0)
        return FI_STEAL_EMPTY;

    uint32_t take = fi_deque_steal_share((uint64_t)n, max < d->batch ? max : d->batch);
    for (uint32_t i = 0; i < take; i++)
        out[i] = fi_load_item(fi_circular_array_at(&d->ring, t + i));
    /* -> bounded_base.push.top: keeps the loads before the claim.  After it, push may reuse the
     * slots. */
    if (!fi_cas_release(&d->top, &t, t + take, half.steal.claim))
        return fi_deque_lost_race(take);
    return (int)take;
}

const fi_deque_ops fi_deque_half = {
    .name = "half",
    .fifo = true,
    .create = half_create,
    .destroy = fi_bounded_base_free,
    .push = fi_bounded_base_push,
    .pop = half_pop,
    .steal = half_steal,
    .size = fi_bounded_base_size,
    .capacity = fi_bounded_base_capacity,
    .top = fi_bounded_base_top,
    .counts = fi_bounded_base_counts,
    .bottom_offset = offsetof(fi_bounded_base, bottom),
    .top_offset = offsetof(fi_bounded_base, top),
};
