/* Waiters and wait queues, for fibers and threads.  A fiber parks; a thread blocks.
 *
 * Every object that a user can wait for consists of a lock, the state that it guards, and wait
 * queues:
 *
 *     waiter                                      waker
 *     fi_obj_lock(&m->lock)                       fi_obj_lock(&m->lock)
 *     if (the condition does not hold)            fi_waiter *w = fi_waitq_pop(&m->waitq);
 *         e = fi_waitq_wait(&w, &m->waitq, ...)   if (w) w->result = 0;
 *     else                                        fi_obj_unlock(&m->lock);
 *         fi_obj_unlock(&m->lock), e = 0;         if (w) fi_waiter_wake(w);
 *
 * fi_waitq_wait enqueues the waiter.  It stays in the queue until one of three parties removes it
 * under the lock: a waker, its deadline, or the cancellation of its fiber.  The party that removed
 * it wakes it; no other party may.  The lock is released only after the fiber has left its stack,
 * so a party that finds the waiter in the queue may make the fiber ready.
 *
 * A multi wait (select) has one arm in each of several queues.  The first party that claims one of
 * its arms, the winner, ends it.
 */
#ifndef FI_WAIT_WAITQ_H
#define FI_WAIT_WAITQ_H

#include "base/biased_lock.h"
#include "base/timer_heap.h"
#include "base/tls.h"
#include "sched/fiber_pin.h"

typedef struct fi_waiter fi_waiter;
typedef struct fi_runtime fi_runtime;

/* A circular list; NULL: it is empty. */
typedef struct fi_waitq {
    fi_waiter *first;
} fi_waitq;

/* On the stack of the waiting fiber or thread.  A caller that needs more fields embeds it in a
 * struct of its own.  Initialise it with zeros or with fi_waiter_init. */
struct fi_waiter {
    fi_wait_reason reason;       /* first: sched reads it through fi_fiber.waiting */
    fi_waiter *next, *prev;      /* in the wait queue */
    FI_ATOMIC(fi_waitq *) waitq; /* that it is in; NULL: none.  Written under the lock */
    fi_biased_lock *lock;
    fi_fiber *fiber;  /* NULL: a thread waits, on the event */
    fi_waiter *multi; /* of an arm: the multi wait that it belongs to; NULL: not an arm */
    /* A waker uses what is above and these two: at most two cache lines. */
    void *item; /* for the owner of the queue: the value, or where to store it */
    int result; /* set by the party that removes it */
    FI_ATOMIC(uint32_t) event;
    bool uncancellable; /* filch_fiber_cancel does not end the wait */
    bool freeable;      /* the object may be freed as soon as the waiter is removed */
    /* Remove it before a waker does.  True: the caller removed it, and must wake it. */
    bool (*try_remove)(fi_waiter *w);
    /* [lock held] Called when a deadline or a cancellation removes it.  NULL: nothing to do. */
    void (*on_abandon)(fi_waiter *w);
    fi_timer timer;
    int64_t since_ns; /* by the coarse clock of the runtime */
    /* A multi wait has an arm in each of its queues.  The multi itself is in none. */
    fi_waiter *twin;            /* of an arm: another arm under the same lock, removed with it */
    uint32_t arm;               /* index within the multi, from 1 */
    bool counted;               /* it counts as a blocked thread (sched/watchdog.h) */
    FI_ATOMIC(uint32_t) winner; /* of a multi: the arm that was claimed; 0: none yet */
};

_Static_assert(offsetof(fi_waiter, reason) == 0, "sched reads it through fi_fiber.waiting");

/* [waiter] Set the fields that enqueuing does not set.  Zeroing all of them would cost much in a
 * wait of nanoseconds. */
static inline void fi_waiter_init(fi_waiter *w, void *item)
{
    w->item = item;
    w->uncancellable = false;
    w->freeable = false;
    w->on_abandon = NULL;
    w->multi = NULL;
}

/* [any] Lock an object.  A party holds at most one lock taken like this.  It takes further ones
 * with fi_obj_lock_second. */
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

/* [lock held; released here] Append the waiter to the queue, and wait until a waker removes it, the
 * deadline passes, or the fiber is cancelled.
 * Returns: the result that the waker set; -ETIMEDOUT; -ECANCELED; -ENOMEM (only with a
 * deadline). */
int fi_waitq_wait(fi_waiter *w, fi_waitq *waitq, fi_biased_lock *lock, fi_wait_reason reason,
                  int64_t deadline_ns);

/* The same, at the front of the queue. */
int fi_waitq_wait_front(fi_waiter *w, fi_waitq *waitq, fi_biased_lock *lock, fi_wait_reason reason,
                        int64_t deadline_ns);

/* The same, and call then(arg) after the lock is released.  The call is not on the stack of the
 * waiter, which may run again already. */
int fi_waitq_wait_then(fi_waiter *w, fi_waitq *waitq, fi_biased_lock *lock, fi_wait_reason reason,
                       int64_t deadline_ns, void (*then)(void *arg), void *arg);

/* [locks of all arms held; release(arg) releases them] Wait for the first arm.  The caller has
 * appended the arms to their queues.  own is a free lock for the multi itself.  Afterwards the arms
 * that were not removed are still in their queues.
 * Returns: the index of the winner; -ETIMEDOUT; -ECANCELED; -ENOMEM. */
int fi_waitq_wait_multi(fi_waiter *multi, fi_biased_lock *own, fi_wait_reason reason,
                        void (*release)(void *arg), void *arg, int64_t deadline_ns);

/* [lock held] The multi and arm of an arm are set before it is appended. */
void fi_waitq_append(fi_waitq *waitq, fi_biased_lock *lock, fi_waiter *w);
void fi_waitq_remove(fi_waiter *w);

/* [lock held] Remove and return the first waiter; NULL: the queue is empty. */
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

/* [party that removed it, lock released] Wake it.  Its memory may be gone at once. */
void fi_waiter_wake(fi_waiter *w);

/* [any] Call before freeing the object with this lock, when its queues are empty.  Returns when no
 * late deadline or cancellation of a freeable wait will take the lock again. */
void fi_waitq_before_free(const fi_biased_lock *lock);

/* [thread that has pinned the fiber, after fi_fiber_pin_fence] End a cancellable wait with
 * -ECANCELED. */
void fi_fiber_end_pinned_wait(fi_fiber *f);

/* [the same] Prefetch what that will use. */
void fi_fiber_prefetch_pinned_wait(fi_fiber *f);

/* [fiber] Wait until no thread has it pinned. */
void fi_fiber_wait_unpinned(fi_fiber *f);

/* [any; the fiber must not end meanwhile] What the fiber waits for.  False: it does not wait. */
bool fi_fiber_wait_reason(fi_fiber *f, fi_wait_reason *reason);

/* [any; the fiber must not end meanwhile] Freeze the fiber until fi_fiber_thaw, which must follow
 * soon.  waiting: its waiter; NULL: it does not wait.
 * Returns: the worker that runs it; NULL: it is parked, and its context and stack do not change. */
fi_worker *fi_fiber_freeze_in(fi_runtime *rt, fi_fiber *f, const fi_waiter **waiting);

/* [deadline or cancellation] The try_remove of a multi, by which debuggers know it: a waiter is
 * done when it is in no queue, a multi when it has a winner. */
bool fi_waiter_multi_try_remove(fi_waiter *multi);

/* [any] Yield to other fibers or threads. */
void fi_wait_yield(void);

/* [any, at the beginning of a public function] In chaos builds, yield at random (base/chaos.h). */
#ifdef FILCH_CHAOS
void fi_wait_chaos(void);
#else
#define fi_wait_chaos() ((void)0)
#endif

#endif
