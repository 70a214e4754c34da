/* A circular array of slots: an index that only grows, masked on access. */
#ifndef FI_DEQUE_RING_H
#define FI_DEQUE_RING_H

#include "base/atomic.h"
#include "base/mem.h"

#include <errno.h>
#include <stdint.h>

typedef FI_ATOMIC(void *) fi_ring_slot;

typedef struct fi_ring {
    fi_ring_slot *slots; /* written by the owner alone */
    uint64_t capacity;   /* a power of two, constant */
} fi_ring;

static inline int fi_ring_init(fi_ring *r, uint32_t capacity)
{
    r->slots = FI_NEW_ARRAY(fi_ring_slot, capacity);
    r->capacity = capacity;
    return r->slots ? 0 : -ENOMEM;
}

static inline void fi_ring_fini(fi_ring *r)
{
    FI_DELETE_ARRAY(fi_ring_slot, r->slots, r->capacity);
}

static inline fi_ring_slot *fi_ring_at(const fi_ring *r, uint64_t index)
{
    return &r->slots[index & (r->capacity - 1)];
}

#endif
