/* Work-stealing deques: the interface of all kinds.
 *
 *        thieves                                   owner
 *     steal <-- [ top | oldest ... newest | bottom ] <-- push
 *                                                    --> pop   (LIFO kinds)
 *     pop   <-- FIFO kind: the owner also takes the oldest
 *
 * Roles: [owner] one thread at a time, so push and pop never run concurrently.  [thief] any thread,
 * concurrently with every call.  Items are pointers, never NULL.  The deque does not dereference
 * them.  A pushed item is popped or stolen exactly once.
 *
 *     kind      owner   size     a steal takes            origin
 *     locked    LIFO    fixed    up to k, at most half    a lock; baseline, and oracle in tests
 *     bounded   LIFO    fixed    1                        bthread's WorkStealingQueue
 *     batch     LIFO    grows    up to k, at most half    Chase-Lev, with Kuchumov's steal of k
 *     half      FIFO    fixed    half, rounded up         Go's local run queue
 */
#ifndef FI_DEQUE_DEQUE_H
#define FI_DEQUE_DEQUE_H

#include "base/counter.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct filch_deque fi_deque; /* users see it as filch_deque */

enum {
    FI_STEAL_EMPTY = 0, /* may be wrong while others move items */
    FI_STEAL_LOST =
        -EAGAIN, /* another thief or the owner was faster; the deque need not be empty */
    FI_STEAL_LOST_SEVERAL = -EBUSY, /* the same, for a claim of several items */
};

#define FI_DEQUE_DEFAULT_CAPACITY 256u
#define FI_DEQUE_MAX_CAPACITY     (1u << 30)
#define FI_DEQUE_MAX_BATCH        64u

/* Zero means the default. */
typedef struct fi_deque_config {
    uint32_t capacity;    /* a power of two; of a growing kind, the initial one */
    uint32_t batch;       /* k, max items of one steal */
    uint64_t first_index; /* start of the indices, so that tests can make them wrap */
    bool no_thieves;      /* only the owner calls steal, so a pop of kind batch needs no barrier */
} fi_deque_config;

/* The owner's operations, counted as in Kuchumov's paper (2016).  Written by the owner only
 * (locked: by the holder of the lock), in the cache line of the bottom.  The bottom was raised
 * pushes + bottom_restores times. */
typedef struct fi_deque_counts {
    fi_counter pushes;
    fi_counter pops, pops_failed;
    fi_counter resizes;
    fi_counter bottom_decs;     /* by pops, including failed ones */
    fi_counter bottom_restores; /* after a pop that did not take the item there */
} fi_deque_counts;

typedef struct fi_deque_ops {
    const char *name;
    bool fifo;
    int (*create)(const fi_deque_config *config, fi_deque **out);
    void (*destroy)(fi_deque *d);
    int (*push)(fi_deque *d, void *item);
    void *(*pop)(fi_deque *d);
    int (*steal)(fi_deque *d, void **out, uint32_t max);
    size_t (*size)(fi_deque *d);
    size_t (*capacity)(fi_deque *d);
    uint32_t (*top)(fi_deque *d);
    fi_deque_counts *(*counts)(fi_deque *d);
    /* Offsets of two 32-bit words of a deque whose difference is its size, for debuggers. */
    uint32_t bottom_offset, top_offset;
} fi_deque_ops;

struct filch_deque {
    const fi_deque_ops *ops;
};

extern const fi_deque_ops fi_deque_locked;
extern const fi_deque_ops fi_deque_bounded;
extern const fi_deque_ops fi_deque_batch;
extern const fi_deque_ops fi_deque_half;

/* All kinds, ended by NULL. */
extern const fi_deque_ops *const fi_deque_kinds[];

/* [any] The kind of that name, or NULL. */
const fi_deque_ops *fi_deque_kind_named(const char *name);

/* [any] Create a deque.  *out is written on success only.
 * Returns: 0; -EINVAL: the capacity is not a power of two or out of bounds, or the batch is out of
 * bounds or more than 1 for kind bounded; -ENOMEM. */
int fi_deque_new(const fi_deque_ops *kind, const fi_deque_config *config, fi_deque **out);

/* [owner] No thief may be inside.  The caller owns the items that are left.  NULL is allowed. */
void fi_deque_free(fi_deque *d);

/* [owner] Push an item at the bottom.  It must not be NULL, which pop returns for an empty deque.
 * Returns: 0; -ENOSPC: full; -ENOMEM: cannot grow. */
static inline int fi_deque_push(fi_deque *d, void *item)
{
    assert(item != NULL);
    return d->ops->push(d, item);
}

/* [owner] Returns: an item; NULL if the deque is empty. */
static inline void *fi_deque_pop(fi_deque *d)
{
    return d->ops->pop(d);
}

/* [thief] Take up to max of the oldest items, oldest first.  out[] beyond the returned number is
 * undefined. Returns: the number of items; FI_STEAL_EMPTY; FI_STEAL_LOST; FI_STEAL_LOST_SEVERAL;
 * -EINVAL if max is 0. */
static inline int fi_deque_steal(fi_deque *d, void **out, uint32_t max)
{
    return d->ops->steal(d, out, max);
}

/* [any] Approximate number of items.  Exact while no other call runs. */
static inline size_t fi_deque_size(fi_deque *d)
{
    return d->ops->size(d);
}

/* [owner] Number of items that fit without growing. */
static inline size_t fi_deque_capacity(fi_deque *d)
{
    return d->ops->capacity(d);
}

/* [any] The index of the oldest item, which grows by one for each item that is taken at the top. 
 * It wraps and need not start at 0, so only differences are meaningful. */
static inline uint32_t fi_deque_top(fi_deque *d)
{
    return d->ops->top(d);
}

/* [any] reads, [owner] writes. */
static inline fi_deque_counts *fi_deque_counts_of(fi_deque *d)
{
    return d->ops->counts(d);
}

/* For the kinds: the result of a failed claim of n items. */
static inline int fi_deque_lost_race(uint32_t n)
{
    return n > 1 ? FI_STEAL_LOST_SEVERAL : FI_STEAL_LOST;
}

/* [owner] For the kinds: the end of a pop. */
static inline void *fi_deque_count_pop(fi_deque_counts *counts, void *item)
{
    fi_count(item ? &counts->pops : &counts->pops_failed);
    return item;
}

/* For the kinds: the number of items to steal from n > 0: half, rounded up so that the last one can
 * be stolen too. */
static inline uint32_t fi_deque_steal_share(uint64_t n, uint32_t max)
{
    uint64_t half = n - n / 2;
    return half < max ? (uint32_t)half : max;
}

#endif
