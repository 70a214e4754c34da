/* The common part of bounded and half: an array of fixed size to which the owner pushes at the
 * bottom. The kinds differ in pop and steal.
 *
 * Indices only grow and are masked on access.  They are unsigned and compared by their difference,
 * so they may wrap.
 */
#ifndef FI_DEQUE_BOUNDED_BASE_H
#define FI_DEQUE_BOUNDED_BASE_H

#include "base/atomic.h"
#include "base/compiler.h"
#include "deque/array.h"
#include "deque/deque.h"

typedef struct fi_bounded_base {
    fi_deque base;
    fi_circular_array ring;
    uint32_t batch;
    FI_CACHE_ALIGNED FI_ATOMIC(uint64_t) bottom; /* written by the owner only */
    uint64_t top_seen;                           /* the owner's; never beyond top */
    fi_deque_counts counts;                      /* the owner's; fills the cache line */
    FI_CACHE_ALIGNED FI_ATOMIC(uint64_t) top;    /* changed by CAS only, by any thread */
} fi_bounded_base;

int fi_bounded_base_new(const fi_deque_ops *kind, const fi_deque_config *config, fi_deque **out);
void fi_bounded_base_free(fi_deque *d);
int fi_bounded_base_push(fi_deque *d, void *item);
size_t fi_bounded_base_size(fi_deque *d);
size_t fi_bounded_base_capacity(fi_deque *d);
uint32_t fi_bounded_base_top(fi_deque *d);
fi_deque_counts *fi_bounded_base_counts(fi_deque *d);

#endif
