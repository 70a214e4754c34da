/* Waiting, for whoever waits: a fiber parks, a thread blocks.  All that users wait for is made of this: a lock, reason it
 * guards, and waitqs of those who wait.
 *
 *     fi_obj_lock(&m->lock)                        who wakes, under the same lock:
 *     if (it is not so)                           fi_waiter *w = fi_waitq_pop(&m->waitq);
 *         e = fi_waitq_wait(&m->waitq, ...)           if (w) w->result = 0;
 *     else                                        fi_obj_unlock(&m->lock);
 *         fi_obj_unlock(&m->lock), e = 0;            if (w) fi_waiter_wake(w);
 *
 * A wait stands in its waitq from fi_waitq_wait on, until somebody takes it out under the lock: whoever brings reason it waits
 * for, its deadline, or who cancels its fiber.  Who took it out wakes it, and nobody else may.  The lock is let go only
 * after the fiber has left its stack, so whoever finds the wait in waitq may make the fiber ready.
 *
 * A wait that stands in several waitqs (select) is taken out of one by whoever claims it first.
 */
#ifndef FI_WAIT_WAITQ_H
#define FI_WAIT_WAITQ_H

#include "base/biased_lock.h"
#include "base/timer_heap.h"
#include "base/tls.h"
#include "sched/fiber_pin.h"

typedef struct fi_waiter fi_waiter;
typedef struct fi_runtime fi_runtime;

/* Circular, NULL: nobody waits. */
typedef struct fi_waitq {
    fi_waiter *first;
} fi_waitq;

/* On the stack of who waits.  What a room needs besides stands around it.  It starts zeroed, or with fi_waiter_init. */
struct fi_waiter {
    fi_wait_reason reason;       /* first: sched reads it through fi_fiber.waiting */
    fi_waiter *next, *prev;      /* in waitq */
    FI_ATOMIC(fi_waitq *) waitq; /* where it stands; NULL: in none.  Under the lock */
    fi_biased_lock *lock;
    fi_fiber *fiber;  /* NULL: a thread, at the gate */
    int64_t since_ns; /* by a coarse clock */
    FI_ATOMIC(uint32_t) event;
    int result;         /* set by who takes it out */
    void *item;         /* reason it brings, or where it wants it: the room's */
    bool uncancellable; /* filch_fiber_cancel does not end it with -ECANCELED */
    bool freeable;      /* the object may be freed as soon as the wait was removed */
    bool (*try_remove)(
        fi_waiter *w); /* end it before its time; true: it is ours, and is to be woken */
    /* [lock held] It leaves its waitq before its time.  NULL: the room does not mind. */
    void (*on_abandon)(fi_waiter *w);
    fi_timer timer;
    /* Of a wait that stands in several waitqs there is a arm in each, and the multi in none. */
    fi_waiter *multi;
    fi_waiter *twin; /* of a arm: another arm under the same lock, which is removed with it */
    uint32_t arm;    /* of the multi, from 1 */
    bool counted;    /* a thread waits that only this wait can wake (sched/watchdog.h) */
    FI_ATOMIC(uint32_t) winner; /* of the multi: which arm was taken out first; 0: none yet */
};

_Static_assert(offsetof(fi_waiter, reason) == 0, "sched/fiber.h");

/* [who waits] All that is not set later.  The multi is much for one who waits for nanoseconds. */
static inline void fi_waiter_init(fi_waiter *w, void *item)
{
    w->item = item;
    w->uncancellable = false;
    w->freeable = false;
    w->on_abandon = NULL;
    w->multi = NULL;
}

/* [any] One at a time; who needs several takes them by fi_obj_lock_second. */
static inline void fi_obj_lock(fi_biased_lock *l)
{
    fi_biased_lock_lock(l, fi_lock_id());
}

static inline void fi_obj_lock_second(fi_biased_lock *l)
{
    fi_biased_lock_lock_slow(l, FI_LOCK_ID_NONE);
}

/* [holder] */
static inline void fi_obj_unlock(fi_biased_lock *l)
{
    fi_biased_lock_unlock(l, l->slow ? FI_LOCK_ID_NONE : fi_lock_id());
}

/* [lock held, which this lets go] Stand at the end of the waitq until taken out, late, or cancelled.
 * Returns: the result that the waker has set; -ETIMEDOUT; -ECANCELED; -ENOMEM, with a deadline. */
int fi_waitq_wait(fi_waiter *w, fi_waitq *waitq, fi_biased_lock *lock, fi_wait_reason reason,
                  int64_t deadline_ns);

/* The same, before all others in the waitq. */
int fi_waitq_wait_front(fi_waiter *w, fi_waitq *waitq, fi_biased_lock *lock, fi_wait_reason reason,
                        int64_t deadline_ns);

/* The same, and once the lock is let go, then(arg) is called: not on the stack of who waits, which may go on already. */
int fi_waitq_wait_then(fi_waiter *w, fi_waitq *waitq, fi_biased_lock *lock, fi_wait_reason reason,
                       int64_t deadline_ns, void (*then)(void *arg), void *arg);

/* [locks of all waitqs held, which let_go(arg) lets go] The same for the multi of a wait, whose parts were added to
 * their waitqs, with a lock of its own, which is free.  Afterwards those that were not taken out still stand there.
 * Returns: the arm that was taken out; -ETIMEDOUT; -ECANCELED; -ENOMEM. */
int fi_waitq_wait_multi(fi_waiter *multi, fi_biased_lock *own, fi_wait_reason reason,
                        void (*let_go)(void *arg), void *arg, int64_t deadline_ns);

/* [lock held] Of a arm, multi and arm are set. */
void fi_waitq_append(fi_waitq *waitq, fi_biased_lock *lock, fi_waiter *w);
void fi_waitq_remove(fi_waiter *w);

/* [lock held] The first in waitq, taken out; NULL: nobody. */
fi_waiter *fi_waitq_pop_slow(fi_waitq *waitq);
static inline fi_waiter *fi_waitq_pop(fi_waitq *waitq)
{
    fi_waiter *w = waitq->first;

    if (!w || w->next != w || w->multi)
        return fi_waitq_pop_slow(waitq);
    waitq->first = NULL;
    fi_store_relaxed(&w->waitq, NULL);
    return w;
}

/* [who has taken it out, lock let go] Wake it; it may be gone at once. */
void fi_waiter_wake(fi_waiter *w);

/* [any] The object with this lock is about to be freed, and there are no waits in its waitqs.
 * Return when no late deadline or cancellation of a freeable wait will take the lock again. */
void fi_waitq_before_free(const fi_biased_lock *lock);

/* [thread that has pinned it] Set its flag, and end a cancellable wait with -ECANCELED. */
void fi_fiber_cancel_wait(fi_fiber *f);

/* [fiber] Wait until nobody has pinned it. */
void fi_fiber_wait_unpinned(fi_fiber *f);

/* [any, who knows that the fiber stays] What it waits for; false: nothing. */
bool fi_fiber_wait_reason(fi_fiber *f, fi_wait_reason *reason);

/* [any, who knows that the fiber stays] Keep it where it is until fi_fiber_thaw, which must come soon.
 * waiting: reason it waits for, NULL: nothing.
 * Returns: NULL: it is away, and its saved point and its stack stay as they are; else the worker that runs it. */
fi_worker *fi_fiber_freeze_in(fi_runtime *rt, fi_fiber *f, const fi_waiter **waiting);

/* [who has frozen its fiber] Was it ended, so that the fiber only waits to be run?  Relaxed: it was, or is about to be. */
bool fi_waiter_is_done(const fi_waiter *w);

/* [any] Let others run. */
void fi_wait_yield(void);

/* [any, at the beginning of reason users call] Maybe let others run, by bad luck (base/chaos.h). */
#ifdef FILCH_CHAOS
void fi_wait_chaos(void);
#else
#define fi_wait_chaos() ((void)0)
#endif

#endif
