/* The contract of all queues that a worker owns and others steal from.
 *
 *        thieves                                   owner
 *     steal <-- [ top | oldest ... newest | bottom ] <-- push
 *                                                    --> pop   (LIFO kinds)
 *     pop   <-- FIFO kind: the owner, too, takes the oldest
 *
 * Roles: [owner] one thread at a time, never two of push and pop at once; [thief] any thread,
 * against everything.  Items are pointers, never NULL; the queue moves them and does not look at
 * them.  An item that was pushed is obtained exactly once.
 *
 *     kind      owner   room     a steal takes            after
 *     locked    LIFO    fixed    up to k, at most half    one lock: baseline and oracle
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

typedef struct fi_deque fi_deque;

enum {
    FI_STEAL_EMPTY = 0, /* nothing there; a false "empty" is allowed while others move items */
    FI_STEAL_LOST =
        -EAGAIN, /* another thief or the owner was faster: the queue need not be empty */
    FI_STEAL_LOST_SEVERAL = -EBUSY, /* the same, and it was about more than one item */
};

#define FI_DEQUE_DEFAULT_CAPACITY 256u
#define FI_DEQUE_MAX_CAPACITY     (1u << 30)
#define FI_DEQUE_MAX_BATCH        64u

/* Zero means the default. */
typedef struct fi_deque_config {
    uint32_t capacity;    /* a power of two; for a growing kind, the first one */
    uint32_t batch;       /* k: the most that one steal takes */
    uint64_t first_index; /* where the indices start, so that tests can watch them wrap */
} fi_deque_config;

/* What the owner did, counted as in Kuchumov's paper (2016).  Written by the owner alone (locked: by the holder of the lock),
 * beside the bottom, which it writes at the same time.  So often was the bottom raised: puts + restored. */
typedef struct fi_deque_counts {
    fi_counter pushes;
    fi_counter pops, pops_failed;
    fi_counter resizes;
    fi_counter
        bottom_decs; /* times the bottom was lowered: by a pop, also by one that then failed */
    fi_counter
        bottom_restores; /* of these: times it was put back, as the item was not taken from there */
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
} fi_deque_ops;

struct fi_deque {
    const fi_deque_ops *ops;
};

extern const fi_deque_ops fi_deque_locked;
extern const fi_deque_ops fi_deque_bounded;
extern const fi_deque_ops fi_deque_batch;
extern const fi_deque_ops fi_deque_half;

/* All of them, ended by NULL. */
extern const fi_deque_ops *const fi_deque_kinds[];

/* [any] The kind of that name, or NULL. */
const fi_deque_ops *fi_deque_kind_named(const char *name);

/* [any] Make a queue.  0, -EINVAL (capacity no power of two or out of bounds, batch out of bounds
 * or more than 1 for a kind that steals singly), -ENOMEM; *out is written on success only. */
int fi_deque_new(const fi_deque_ops *kind, const fi_deque_config *config, fi_deque **out);

/* [owner] Free it; no thief may be inside.  Items still there stay the caller's.  NULL is allowed.
 */
void fi_deque_free(fi_deque *d);

/* [owner] Put an item at the bottom.  0, -ENOSPC (full: the item stays the caller's), -ENOMEM
 * (could not grow; likewise).  NULL could not be told from "none" in pop. */
static inline int fi_deque_push(fi_deque *d, void *item)
{
    assert(item != NULL);
    return d->ops->push(d, item);
}

/* [owner] Take an item back; NULL when there is none. */
static inline void *fi_deque_pop(fi_deque *d)
{
    return d->ops->pop(d);
}

/* [thief] Take up to max of the oldest items, oldest first.  How many (> 0), FI_STEAL_EMPTY,
 * FI_STEAL_LOST, FI_STEAL_LOST_SEVERAL, or -EINVAL for max == 0.  What lies in out[] beyond the returned count is scrap.
 */
static inline int fi_deque_steal(fi_deque *d, void **out, uint32_t max)
{
    return d->ops->steal(d, out, max);
}

/* [any] How many items there seem to be: exact only while nobody moves any. */
static inline size_t fi_deque_size(fi_deque *d)
{
    return d->ops->size(d);
}

/* [owner] How many items fit without growing. */
static inline size_t fi_deque_capacity(fi_deque *d)
{
    return d->ops->capacity(d);
}

/* [any] The index of the oldest item, which grows by one for each that leaves at the thieves' end.  It wraps, and it
 * need not begin at 0: what counts is how far it moved. */
static inline uint32_t fi_deque_top(fi_deque *d)
{
    return d->ops->top(d);
}

/* [any] To read; [owner] to write. */
static inline fi_deque_counts *fi_deque_counts_of(fi_deque *d)
{
    return d->ops->counts(d);
}

/* Shared by the kinds: what to tell of a claim of n items that failed. */
static inline int fi_deque_lost_race(uint32_t n)
{
    return n > 1 ? FI_STEAL_LOST_SEVERAL : FI_STEAL_LOST;
}

/* [owner] Shared by the kinds: what a pop ends with. */
static inline void *fi_deque_count_pop(fi_deque_counts *counts, void *item)
{
    fi_count(item ? &counts->pops : &counts->pops_failed);
    return item;
}

/* Shared by the kinds: the fair share of a steal from a queue of n > 0 items: half of them, rounded
 * up, as the last one must be stealable too. */
static inline uint32_t fi_deque_steal_share(uint64_t n, uint32_t most)
{
    uint64_t half = n - n / 2;
    return half < most ? (uint32_t)half : most;
}

#endif
