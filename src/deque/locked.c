/* A circular array behind a lock: the baseline of measurements, and the oracle in tests of the
 * lock-free kinds. */
#include "deque/deque.h"

#include "base/lock.h"
#include "base/mem.h"
#include "deque/array.h"

typedef struct locked {
    fi_deque base;
    fi_circular_array ring; /* this and all below: guarded by the lock */
    fi_lock lock;
    uint32_t batch;
    uint64_t bottom;
    uint64_t top;
    fi_counter moved; /* number of items taken at the top; read without the lock */
    fi_deque_counts counts;
} locked;

static int locked_create(const fi_deque_config *config, fi_deque **out)
{
    locked *d = FI_NEW(locked);
    if (!d)
        return -ENOMEM;
    if (fi_circular_array_init(&d->ring, config->capacity) < 0) {
        FI_DELETE(locked, d);
        return -ENOMEM;
    }
    d->base.ops = &fi_deque_locked;
    d->batch = config->batch ? config->batch : 1;
    d->bottom = d->top = config->first_index;
    fi_lock_init(&d->lock);
    *out = &d->base;
    return 0;
}

static void locked_destroy(fi_deque *base)
{
    locked *d = (locked *)base;
    fi_circular_array_fini(&d->ring);
    FI_DELETE(locked, d);
}

static int locked_push(fi_deque *base, void *item)
{
    locked *d = (locked *)base;
    int result = -ENOSPC;
    fi_lock_lock(&d->lock);
    if (d->bottom - d->top < d->ring.capacity) {
        fi_store_item(fi_circular_array_at(&d->ring, d->bottom++), item);
        fi_count(&d->counts.pushes);
        result = 0;
    }
    fi_lock_unlock(&d->lock);
    return result;
}

static void *locked_pop(fi_deque *base)
{
    locked *d = (locked *)base;
    void *item = NULL;
    fi_lock_lock(&d->lock);
    if (d->bottom != d->top) {
        item = fi_load_item(fi_circular_array_at(&d->ring, --d->bottom));
        fi_count(&d->counts.bottom_decs);
    }
    fi_deque_count_pop(&d->counts, item);
    fi_lock_unlock(&d->lock);
    return item;
}

static int locked_steal(fi_deque *base, void **out, uint32_t max)
{
    locked *d = (locked *)base;
    if (max == 0)
        return -EINVAL;
    fi_lock_lock(&d->lock);
    uint32_t take = fi_deque_steal_share(d->bottom - d->top, max < d->batch ? max : d->batch);
    for (uint32_t i = 0; i < take; i++)
        out[i] = fi_load_item(fi_circular_array_at(&d->ring, d->top++));
    fi_count_add(&d->moved, take);
    fi_lock_unlock(&d->lock);
    return (int)take; /* 0 is FI_STEAL_EMPTY */
}

static size_t locked_size(fi_deque *base)
{
    locked *d = (locked *)base;
    fi_lock_lock(&d->lock);
    size_t n = d->bottom - d->top;
    fi_lock_unlock(&d->lock);
    return n;
}

static size_t locked_capacity(fi_deque *base)
{
    return ((locked *)base)->ring.capacity;
}

static uint32_t locked_top(fi_deque *base)
{
    return (uint32_t)fi_counted(&((locked *)base)->moved);
}

static fi_deque_counts *locked_counts(fi_deque *base)
{
    return &((locked *)base)->counts;
}

const fi_deque_ops fi_deque_locked = {
    .name = "locked",
    .fifo = false,
    .create = locked_create,
    .destroy = locked_destroy,
    .push = locked_push,
    .pop = locked_pop,
    .steal = locked_steal,
    .size = locked_size,
    .capacity = locked_capacity,
    .top = locked_top,
    .counts = locked_counts,
    .bottom_offset = offsetof(locked, bottom),
    .top_offset = offsetof(locked, top),
};
