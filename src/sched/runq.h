/* The run queue of a worker: fibers that are ready again.  It has a next slot, for the fiber that
 * was made ready last, and a FIFO.
 *
 * Its worker uses it at every switch, and other threads seldom do.  So it is guarded by a lock that
 * is mostly biased to the worker (base/biased_lock.h), and the fast path has no locked instruction.
 * docs/decisions/008 has the measurements.
 *
 * The fiber in the next slot is mostly run by the same worker a moment later, when the fiber that
 * made it ready parks, because the two communicate.  A steal would separate them.  So a thief takes
 * that fiber only if the worker does not look for work for a while.  A wake-up of another worker
 * would be wasted.  So the queue counts how often in a row its worker took the fiber in the next
 * slot.  After FI_RUNQ_NEXT_STREAK_MIN times no worker is woken for it.  The count starts again
 * when a thief takes the fiber, which may be a worker that the watchdog has woken
 * (sched/watchdog.h). */
#ifndef FI_SCHED_RUNQ_H
#define FI_SCHED_RUNQ_H

#include "base/biased_lock.h"
#include "base/compiler.h"
#include "sched/runnable.h"

#include <stddef.h>

#define FI_RUNQ_BATCH 128u /* max of one steal, and of one take from the global queue */
/* From this streak on, the worker is expected to take the fiber in the next slot. */
#define FI_RUNQ_NEXT_STREAK_MIN 16u

typedef struct fi_runq {
    FI_CACHE_ALIGNED fi_biased_lock lock;
    FI_ATOMIC(uint32_t) n; /* next slot and FIFO; written under the lock, read by any thread */
    FI_ATOMIC(uint32_t) next_streak; /* times in a row that the worker took next; likewise */
    fi_runnable *next, *first, *last;
} fi_runq;

/* [any] The approximate number of fibers. */
static inline uint32_t fi_runq_size(fi_runq *q)
{
    return fi_load_relaxed(&q->n);
}

/* [any] Is the worker expected to take the fiber in the next slot itself? */
static inline bool fi_runq_owner_takes_next(fi_runq *q)
{
    return fi_load_relaxed(&q->next_streak) >= FI_RUNQ_NEXT_STREAK_MIN;
}

/* ---- under the lock ---- */

static inline void fi_runq_change(fi_runq *q, uint32_t by)
{
    fi_store_relaxed(&q->n, fi_load_relaxed(&q->n) + by);
}

static inline void fi_runq_append(fi_runq *q, fi_runnable *r)
{
    r->next = NULL;
    if (q->first)
        q->last->next = r;
    else
        q->first = r;
    q->last = r;
}

static inline fi_runnable *fi_runq_take_first(fi_runq *q)
{
    fi_runnable *r = q->first;

    if (r)
        q->first = r->next;
    return r;
}

static inline fi_runnable *fi_runq_take_next(fi_runq *q)
{
    fi_runnable *r = q->next;

    q->next = NULL;
    return r;
}

/* The worker takes the fiber in the next slot. */
static inline void fi_runq_clear_next(fi_runq *q)
{
    uint32_t next_streak = fi_load_relaxed(&q->next_streak);

    if (FI_UNLIKELY(next_streak < FI_RUNQ_NEXT_STREAK_MIN))
        fi_store_relaxed(&q->next_streak, next_streak + 1u);
    q->next = NULL;
}

/* The fiber in the next slot, or else the first of the FIFO; NULL: the queue is empty. */
static inline fi_runnable *fi_runq_take(fi_runq *q)
{
    fi_runnable *r = q->next;

    if (!r)
        return fi_runq_take_first(q);
    fi_runq_clear_next(q);
    return r;
}

/* ---- called by its worker; lock_id: fi_worker_lock_id of that worker ---- */

/* [worker] Append to the FIFO. */
static inline void fi_runq_push(fi_runq *q, uint32_t lock_id, fi_runnable *r)
{
    fi_biased_lock_lock(&q->lock, lock_id);
    fi_runq_append(q, r);
    fi_runq_change(q, 1u);
    fi_biased_lock_unlock(&q->lock, lock_id);
}

/* The lock is mostly biased to the worker.  That path is inlined, because every switch takes it.
 * The other path is a call. */

/* [lock held] Put r in the next slot.  True: the slot was filled, and its fiber is now the last of
 * the FIFO. */
static inline bool fi_runq_set_next(fi_runq *q, fi_runnable *r)
{
    fi_runnable *displaced = q->next;

    q->next = r;
    fi_runq_change(q, 1u);
    if (displaced)
        fi_runq_append(q, displaced);
    return displaced;
}

bool fi_runq_push_next_slow(fi_runq *q, uint32_t lock_id, fi_runnable *r);
static inline bool fi_runq_push_next(fi_runq *q, uint32_t lock_id, fi_runnable *r)
{
    bool displaced;

    if (FI_UNLIKELY(!fi_biased_lock_try_fast(&q->lock, lock_id)))
        return fi_runq_push_next_slow(q, lock_id, r);
    displaced = fi_runq_set_next(q, r);
    fi_biased_lock_unlock_fast(lock_id);
    return displaced;
}

/* [lock held] */
static inline fi_runnable *fi_runq_take_counted(fi_runq *q)
{
    fi_runnable *r = fi_runq_take(q);

    if (FI_LIKELY(r))
        fi_runq_change(q, 0u - 1u);
    return r;
}

/* [worker] The next fiber to run; NULL: the queue is empty. */
fi_runnable *fi_runq_pop_slow(fi_runq *q, uint32_t lock_id);
static inline fi_runnable *fi_runq_pop(fi_runq *q, uint32_t lock_id)
{
    fi_runnable *r;

    if (FI_UNLIKELY(fi_load_relaxed(&q->n) == 0)) /* no other thread pushes */
        return NULL;
    if (FI_UNLIKELY(!fi_biased_lock_try_fast(&q->lock, lock_id)))
        return fi_runq_pop_slow(q, lock_id);
    r = fi_runq_take_counted(q);
    fi_biased_lock_unlock_fast(lock_id);
    return r;
}

/* [worker] The same, but the FIFO comes before the next slot.  Two fibers that make each other
 * ready would otherwise starve the rest. */
fi_runnable *fi_runq_pop_fifo(fi_runq *q, uint32_t lock_id);

/* [worker] The fiber that is n places behind the first of the FIFO, which a thief may take
 * meanwhile; NULL: there is none, or that entry is not a parked fiber. */
fi_runnable *fi_runq_peek(fi_runq *q, uint32_t lock_id, unsigned n);

/* [worker] Take the next fiber to run, and append `way`, the fiber that yields.  That fiber still
 * runs on its stack, so the lock stays held on success.  NULL: the queue is empty or its first
 * entry is not a parked fiber; nothing was changed, and the lock is not held. */
static inline fi_runnable *fi_runq_exchange(fi_runq *q, uint32_t lock_id, fi_runnable *way)
{
    fi_runnable *next, *r;

    fi_biased_lock_lock(&q->lock, lock_id);
    next = q->next;
    r = next ? next : q->first;
    if (FI_UNLIKELY(!r || r->run)) { /* stolen meanwhile; or unstarted, and it needs a fiber */
        fi_biased_lock_unlock(&q->lock, lock_id);
        return NULL;
    }
    if (next)
        fi_runq_clear_next(q);
    else
        q->first = r->next;
    fi_runq_append(q, way);
    return r;
}

/* ---- called by any thread ---- */

/* [any, with its own lock_id] Steal half of the FIFO, rounded up, but at most max, as a list.  If
 * the FIFO is empty and next_too is true, steal the fiber in the next slot.  Returns the number of
 * fibers. */
uint32_t fi_runq_steal(fi_runq *q, uint32_t lock_id, uint32_t max, bool next_too,
                       fi_runnable **list);

#endif
