#include "deque/bounded_base.h"

#include "base/mem.h"

int fi_bounded_base_new(const fi_deque_ops *kind, const fi_deque_config *config, fi_deque **out)
{
    fi_bounded_base *d = FI_NEW(fi_bounded_base);
    if (!d)
        return -ENOMEM;
    if (fi_circular_array_init(&d->ring, config->capacity) < 0) {
        FI_DELETE(fi_bounded_base, d);
        return -ENOMEM;
    }
    d->base.ops = kind;
    d->batch = config->batch ? config->batch : UINT32_MAX;
    d->top_seen = config->first_index;
    fi_atomic_init(&d->bottom, config->first_index);
    fi_atomic_init(&d->top, config->first_index);
    *out = &d->base;
    return 0;
}

void fi_bounded_base_free(fi_deque *base)
{
    fi_bounded_base *d = (fi_bounded_base *)base;
    fi_circular_array_fini(&d->ring);
    FI_DELETE(fi_bounded_base, d);
}

/* [owner] Reads the top only if the last value read says that the array is full. */
static bool has_space(fi_bounded_base *d, uint64_t b)
{
    if (b - d->top_seen < d->ring.capacity)
        return true;
    /* <- bounded.steal.claim, half.steal.claim: the thief that freed the slot has finished reading
     * it.  Without this, it may take the new item as well, and the old one is lost. */
    d->top_seen = fi_load_acquire(&d->top, bounded_base.push.top);
    return b - d->top_seen < d->ring.capacity;
}

/* [owner] */
int fi_bounded_base_push(fi_deque *base, void *item)
{
    fi_bounded_base *d = (fi_bounded_base *)base;
    uint64_t b = fi_load_relaxed(&d->bottom); /* the owner's last store */
    if (!has_space(d, b))
        return -ENOSPC;
    fi_store_item(fi_circular_array_at(&d->ring, b), item);
    fi_count(&d->counts.pushes); /* before a thief can take it: see observe/sampler.c */
    /* -> bounded.steal.bottom, half.steal.bottom: the slot, and what the item points to, before the
     * index that shows it. */
    fi_store_release(&d->bottom, b + 1, bounded_base.push.publish);
    return 0;
}

size_t fi_bounded_base_size(fi_deque *base)
{
    fi_bounded_base *d = (fi_bounded_base *)base;
    int64_t n = (int64_t)(fi_load_relaxed(&d->bottom) - fi_load_relaxed(&d->top));
    return n > 0 ? (size_t)n : 0;
}

size_t fi_bounded_base_capacity(fi_deque *base)
{
    return ((fi_bounded_base *)base)->ring.capacity;
}

uint32_t fi_bounded_base_top(fi_deque *base)
{
    return (uint32_t)fi_load_relaxed(&((fi_bounded_base *)base)->top);
}

fi_deque_counts *fi_bounded_base_counts(fi_deque *base)
{
    return &((fi_bounded_base *)base)->counts;
}
