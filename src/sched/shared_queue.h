/* A FIFO that any thread may use, guarded by a lock.  It is the inbox of each worker, for work of
 * threads that are not workers, and the global queue, for work that fits in no other queue. */
#ifndef FI_SCHED_SHARED_QUEUE_H
#define FI_SCHED_SHARED_QUEUE_H

#include "base/atomic.h"
#include "base/lock.h"
#include "sched/runnable.h"

#include <stddef.h>

typedef struct fi_shared_queue {
    fi_lock lock;
    fi_runnable *first, *last;
    FI_ATOMIC(size_t) n; /* changed under the lock; a relaxed read without it is approximate */
} fi_shared_queue;

/* [any] */
void fi_shared_queue_push(fi_shared_queue *q, fi_runnable *r);

/* [any] The oldest, or NULL. */
fi_runnable *fi_shared_queue_pop(fi_shared_queue *q);

/* [any] Take up to n of the oldest, as a list in order.  Returns the number taken. */
size_t fi_shared_queue_take(fi_shared_queue *q, size_t n, fi_runnable **list);

/* [any] The approximate number of entries. */
static inline size_t fi_shared_queue_size(fi_shared_queue *q)
{
    return fi_load_relaxed(&q->n);
}

#endif
