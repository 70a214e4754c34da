/* A lock-free FIFO ring of fixed size: owner and thieves both take at the head; a thief takes half.
 *
 * Go's local run queue.  Since the owner, too, moves the head by CAS, nobody needs a seq_cst fence,
 * and a steal of any number of items is safe: whoever else moved the head makes the CAS fail. The
 * head is "top" here, the tail "bottom", as in the other kinds.  So a pop never lowers the bottom: what the owner takes, too,
 * shows in how far the top moved.
 */
#include "deque/bounded_base.h"

static int create(const fi_deque_config *config, fi_deque **out)
{
    return fi_bounded_base_new(&fi_deque_half, config, out);
}

/* [owner] A failed CAS means that thieves took some: look again.  At most as often as they steal.
 */
static void *try_pop(fi_bounded_base *d)
{
    uint64_t b = fi_load_relaxed(&d->bottom); /* our own last store */
    uint64_t t = fi_load_relaxed(&d->top);    /* stale: the CAS fails and brings a newer one */
    while (t != b) {
        void *item = fi_load_item(fi_circular_array_at(&d->ring, t)); /* we wrote it ourselves */
        if (fi_cas_relaxed(&d->top, &t, t + 1))
            return item;
    }
    return NULL;
}

/* [owner] */
static void *pop(fi_deque *base)
{
    fi_bounded_base *d = (fi_bounded_base *)base;
    return fi_deque_count_pop(&d->counts, try_pop(d));
}

/* [thief] Owns nothing until the claim succeeds; then the items, never the slots. */
static int steal(fi_deque *base, void **out, uint32_t max)
{
    fi_bounded_base *d = (fi_bounded_base *)base;
    if (max == 0)
        return -EINVAL;
    uint64_t t = fi_load_relaxed(&d->top); /* stale: n may be too large, and the claim fails */
    /* <- bounded_base.push.publish: else the slots may be unwritten: items are lost. */
    uint64_t b = fi_load_acquire(&d->bottom, half.steal.bottom);
    int64_t n = (int64_t)(b - t);
    if (n <= 0)
        return FI_STEAL_EMPTY;

    uint32_t take = fi_deque_steal_share((uint64_t)n, max < d->batch ? max : d->batch);
    for (uint32_t i = 0; i < take; i++)
        out[i] = fi_load_item(fi_circular_array_at(&d->ring, t + i));
    /* -> bounded_base.push.top: keeps those loads before the claim; after it, push may reuse the slots. */
    if (!fi_cas_release(&d->top, &t, t + take, half.steal.claim))
        return fi_deque_lost_race(take);
    return (int)take;
}

const fi_deque_ops fi_deque_half = {
    .name = "half",
    .fifo = true,
    .create = create,
    .destroy = fi_bounded_base_free,
    .push = fi_bounded_base_push,
    .pop = pop,
    .steal = steal,
    .size = fi_bounded_base_size,
    .capacity = fi_bounded_base_capacity,
    .top = fi_bounded_base_top,
    .counts = fi_bounded_base_counts,
};
