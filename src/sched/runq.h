/* The run queue of a worker: fibers that are ready to go on.  A next slot, for the one made ready last, and a line.
 *
 * Its worker comes here at every switch and others seldom, so it is behind a lock whose favourite is mostly the worker
 * (base/biased_lock.h): no locked instruction on the way.  docs/decisions/008 has the figures.
 *
 * The fiber in the next slot is mostly run by the same worker a moment later, when the fiber that made it ready parks:
 * the two talk to each other.  Then it would be a waste to wake another worker for it, and worse to let it be stolen.  So
 * the queue counts how often in a row its worker took what stood there; after some times nobody is woken for it and nobody
 * steals it, until that turns out to be wrong: its worker has not looked for work for a while, and somebody lock_id searches or
 * the watch (sched/watchdog.h) finds it there. */
#ifndef FI_SCHED_RUNQ_H
#define FI_SCHED_RUNQ_H

#include "base/biased_lock.h"
#include "base/compiler.h"
#include "sched/runnable.h"

#include <stddef.h>

#define FI_RUNQ_BATCH           128u /* the most that one steal, or one visit to the global queue, brings */
#define FI_RUNQ_NEXT_STREAK_MIN 16u /* so often in a row: its worker will take the next one too */

typedef struct fi_runq {
    FI_CACHE_ALIGNED fi_biased_lock lock;
    FI_ATOMIC(uint32_t) n; /* of all; written under the lock, read by anybody */
    FI_ATOMIC(uint32_t)
    next_streak; /* how often in a row its worker took what was in the next slot; likewise */
    fi_runnable *next, *first, *last;
} fi_runq;

/* [any] How many there are to be taken by others, about. */
static inline uint32_t fi_runq_size(fi_runq *q)
{
    return fi_load_relaxed(&q->n);
}

/* [any] Does its worker take what is in the next slot itself, as far as we can tell? */
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

/* The one in the next slot, or the first in line; NULL: there is none. */
static inline fi_runnable *fi_runq_take(fi_runq *q)
{
    fi_runnable *r = q->next;
    uint32_t next_streak = fi_load_relaxed(&q->next_streak);

    if (!r)
        return fi_runq_take_first(q);
    if (FI_UNLIKELY(next_streak < FI_RUNQ_NEXT_STREAK_MIN))
        fi_store_relaxed(&q->next_streak, next_streak + 1u);
    q->next = NULL;
    return r;
}

/* ---- its worker, lock_id is the party of that number ---- */

/* [worker] At the end of the line. */
static inline void fi_runq_push(fi_runq *q, uint32_t lock_id, fi_runnable *r)
{
    fi_biased_lock_lock(&q->lock, lock_id);
    fi_runq_append(q, r);
    fi_runq_change(q, 1u);
    fi_biased_lock_unlock(&q->lock, lock_id);
}

/* Its worker is mostly the lock's favourite: the way of that is inlined where every switch goes, and the other is a call. */

/* [lock held] To be run next; what was to be run next goes to the end of the line: true. */
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

/* [worker] The next; NULL: there is none. */
fi_runnable *fi_runq_pop_slow(fi_runq *q, uint32_t lock_id);
static inline fi_runnable *fi_runq_pop(fi_runq *q, uint32_t lock_id)
{
    fi_runnable *r;

    if (FI_UNLIKELY(fi_load_relaxed(&q->n) == 0)) /* nobody else adds */
        return NULL;
    if (FI_UNLIKELY(!fi_biased_lock_try_fast(&q->lock, lock_id)))
        return fi_runq_pop_slow(q, lock_id);
    r = fi_runq_take_counted(q);
    fi_biased_lock_unlock_fast(lock_id);
    return r;
}

/* [worker] The same in turn: the first in line before it, as two lock_id make each other ready would keep all others
 * waiting. */
fi_runnable *fi_runq_pop_fifo(fi_runq *q, uint32_t lock_id);

/* [worker] The next fiber, and at the end of the line the one that makes way for it.  That is not off its stack yet, so the
 * lock is still held then.  NULL: there is none, and this was nothing. */
static inline fi_runnable *fi_runq_exchange(fi_runq *q, uint32_t lock_id, fi_runnable *way)
{
    fi_runnable *r;

    if (FI_UNLIKELY(fi_load_relaxed(&q->n) == 0))
        return NULL;
    fi_biased_lock_lock(&q->lock, lock_id);
    r = q->next ? q->next : q->first;
    if (FI_UNLIKELY(!r || r->run)) { /* stolen meanwhile; or it needs a fiber of its own */
        fi_biased_lock_unlock(&q->lock, lock_id);
        return NULL;
    }
    fi_runq_take(q);
    fi_runq_append(q, way);
    return r;
}

/* ---- anybody ---- */

/* [any, as the party of that number] Half of those in line, rounded up, but no more than most, as a list: how many.  Where nobody
 * stands there, and that is wanted, the one in the next slot. */
uint32_t fi_runq_steal(fi_runq *q, uint32_t lock_id, uint32_t most, bool next_too,
                       fi_runnable **list);

#endif
