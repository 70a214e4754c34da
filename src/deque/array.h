/* A circular array of slots.  Indices only grow and are masked on access. */
#ifndef FI_DEQUE_ARRAY_H
#define FI_DEQUE_ARRAY_H

#include "base/atomic.h"
#include "base/mem.h"

#include <errno.h>
#include <stdint.h>

typedef FI_ATOMIC(void *) fi_array_slot;

typedef struct fi_circular_array {
    fi_array_slot *slots; /* written by the owner only */
    uint64_t capacity;    /* a power of two, constant */
} fi_circular_array;

static inline int fi_circular_array_init(fi_circular_array *r, uint32_t capacity)
{
    r->slots = FI_NEW_ARRAY(fi_array_slot, capacity);
    r->capacity = capacity;
    return r->slots ? 0 : -ENOMEM;
}

static inline void fi_circular_array_fini(fi_circular_array *r)
{
    FI_DELETE_ARRAY(fi_array_slot, r->slots, r->capacity);
}

static inline fi_array_slot *fi_circular_array_at(const fi_circular_array *r, uint64_t index)
{
    return &r->slots[index & (r->capacity - 1)];
}

#endif
