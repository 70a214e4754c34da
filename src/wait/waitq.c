/* Wait queues: enqueue, park or block, wake, time out and cancel. */
#include "wait/waitq.h"

#include "base/at_fork.h"
#include "base/chaos.h"
#include "base/clock.h"
#include "base/fatal.h"
#include "base/oneshot.h"
#include "sched/bound.h"
#include "sched/fiber_pin.h"
#include "sched/switch.h"
#include "sched/timers.h"
#include "sched/watchdog.h"
#include "wait/cancel.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#define NO_ARM UINT32_MAX /* a deadline or a cancellation claimed the multi */

/* ---- queues, under the lock of the object ---- */

FI_INLINE void waitq_push_back(fi_waitq *waitq, fi_biased_lock *lock, fi_waiter *w)
{
    fi_waiter *first = waitq->first;

    fi_store_relaxed(&w->waitq, waitq);
    w->lock = lock;
    if (!first) {
        waitq->first = w->next = w->prev = w;
        return;
    }
    w->next = first;
    w->prev = first->prev;
    w->prev->next = first->prev = w;
}

void fi_waitq_append(fi_waitq *waitq, fi_biased_lock *lock, fi_waiter *w)
{
    waitq_push_back(waitq, lock, w);
}

static void waitq_unlink(fi_waitq *waitq, fi_waiter *w)
{
    if (w->next == w) {
        waitq->first = NULL;
    } else {
        w->next->prev = w->prev;
        w->prev->next = w->next;
        if (waitq->first == w)
            waitq->first = w->next;
    }
    fi_store_relaxed(&w->waitq, NULL);
}

void fi_waitq_remove(fi_waiter *w)
{
    waitq_unlink(fi_load_relaxed(&w->waitq), w);
}

/* Relaxed: locks and run queues order the data that goes with the claim. */
static bool waiter_claim(fi_waiter *multi, uint32_t arm)
{
    uint32_t none = 0;

    return fi_cas_relaxed(&multi->winner, &none, arm);
}

fi_waiter *fi_waitq_pop_slow(fi_waitq *waitq)
{
    fi_waiter *w;

    while ((w = waitq->first) != NULL) {
        waitq_unlink(waitq, w);
        if (!w->multi)
            return w;
        if (waiter_claim(w->multi, w->arm)) {
            if (w->twin && fi_load_relaxed(&w->twin->waitq))
                fi_waitq_remove(w->twin);
            return w;
        }
    }
    return NULL;
}

/* ---- ending a wait ---- */

void fi_waiter_wake(fi_waiter *w)
{
    if (w->multi)
        w = w->multi;
    if (FI_LIKELY(w->fiber)) {
        fi_ready(w->fiber);
        return;
    }
    if (w->counted)
        fi_watchdog_thread_unblocks();
    fi_oneshot_set(&w->event);
}

/* [lock held] Remove it because of a deadline, a cancellation or an error. */
static void waiter_abandon(fi_waiter *w)
{
    fi_waitq_remove(w);
    if (w->on_abandon)
        w->on_abandon(w);
}

static bool waiter_try_remove_plain(fi_waiter *w)
{
    bool removed;

    fi_obj_lock(w->lock);
    removed = fi_load_relaxed(&w->waitq) != NULL;
    if (removed)
        waiter_abandon(w);
    fi_obj_unlock(w->lock);
    return removed;
}

/* A deadline or a cancellation may come after the waiter was removed and its channel was freed.  So
 * it checks the waiter first, under a guard that the freeing party takes as well.  The guard is
 * taken before the lock of the object. */
#define GUARDS_LOG 6

typedef struct guard {
    FI_CACHE_ALIGNED fi_biased_lock lock;
} guard;

static guard guards[1 << GUARDS_LOG];

static fi_biased_lock *guard_of(const fi_biased_lock *lock)
{
    return &guards[((uintptr_t)lock >> 6) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - GUARDS_LOG)].lock;
}

static bool waiter_try_remove(fi_waiter *w)
{
    fi_biased_lock *g = guard_of(w->lock);
    bool removed;

    if (!w->freeable)
        return waiter_try_remove_plain(w);
    fi_obj_lock_second(g);
    removed = fi_load_relaxed(&w->waitq) && waiter_try_remove_plain(w);
    fi_obj_unlock(g);
    return removed;
}

void fi_waitq_before_free(const fi_biased_lock *lock)
{
    fi_biased_lock *g = guard_of(lock);

    fi_obj_lock_second(g);
    fi_obj_unlock(g);
}

/* [child of a fork] No other thread exists, so no guard is held. */
static void reset_guards(void)
{
    memset(guards, 0, sizeof guards);
}

__attribute__((constructor)) static void register_at_fork(void)
{
    fi_at_fork(FI_FORK_WAITS, NULL, reset_guards);
}

/* Takes the lock because the fiber releases it only after it has left its stack. */
bool fi_waiter_multi_try_remove(fi_waiter *w)
{
    bool claimed;

    fi_obj_lock_second(w->lock);
    claimed = waiter_claim(w, NO_ARM);
    fi_obj_unlock(w->lock);
    return claimed;
}

static void waiter_end_early(fi_waiter *w, int error)
{
    if (w->try_remove(w)) {
        w->result = error;
        fi_waiter_wake(w);
    }
}

#define FRAME_LINES 5 /* cache lines of the frames from the waiter to the switch */

/* The fiber will run soon, and its memory has probably left the cache.  Prefetch its context and
 * the frames around the waiter. */
static void waiter_prefetch(const fi_waiter *w)
{
    const fi_fiber *f = w->fiber;

    if (!f)
        return;
    FI_PREFETCH(&f->bounds);
    FI_PREFETCH(&f->ctx);
    FI_PREFETCH(&f->stack_bounds);
    for (int i = 1; i <= FRAME_LINES; i++)
        FI_PREFETCH((const char *)w - (ptrdiff_t)i * FI_CACHE_LINE);
    FI_PREFETCH(w + 1);
}

static void waiter_expire(fi_timer *t)
{
    fi_waiter *w = (fi_waiter *)(void *)((char *)t - offsetof(fi_waiter, timer));

    waiter_prefetch(w);
    waiter_end_early(w, -ETIMEDOUT);
}

/* ---- the wait of another fiber ---- */

void fi_fiber_end_pinned_wait(fi_fiber *f)
{
    fi_waiter *w = fi_fiber_load_wait(f);

    if (w && !w->uncancellable)
        waiter_end_early(w, -ECANCELED);
}

void fi_fiber_prefetch_pinned_wait(fi_fiber *f)
{
    const fi_waiter *w = fi_fiber_load_wait(f);

    FI_PREFETCH(&f->ctx);
    FI_PREFETCH(&f->stack_bounds);
    if (!w)
        return;
    FI_PREFETCH(w);
    FI_PREFETCH((const char *)w + FI_CACHE_LINE);
}

bool fi_fiber_wait_reason(fi_fiber *f, fi_wait_reason *reason)
{
    fi_waiter *w;

    fi_fiber_pin(f);
    w = fi_fiber_pinned_wait(f);
    if (w)
        *reason = w->reason;
    fi_fiber_unpin(f);
    return w != NULL;
}

static fi_worker *fiber_worker(fi_runtime *rt, fi_fiber *f)
{
    for (unsigned i = 0; i < rt->n_workers; i++)
        if (fi_fiber_is_on(f, &rt->workers[i].current, &rt->workers[i].leaving))
            return &rt->workers[i];
    return NULL;
}

fi_worker *fi_fiber_freeze_in(fi_runtime *rt, fi_fiber *f, const fi_waiter **waiting)
{
    *waiting = fi_fiber_freeze(f);
    return fiber_worker(rt, f);
}

void fi_fiber_wait_unpinned(fi_fiber *f)
{
    fi_fiber_await_unpinned(f);
}

/* ---- waiting ---- */

/* How the locks of the queues are released: one lock, then a callback if it is set. */
typedef struct release_op {
    fi_biased_lock *lock;
    void (*call)(void *arg);
    void *arg;
} release_op;

/* The callback of a multi wait releases the locks of the arms last.  The fiber takes all of them
 * again before it goes on, so its stack exists until the last one is released. */
static void release_locks(release_op op)
{
    fi_obj_unlock(op.lock);
    if (op.call)
        op.call(op.arg);
}

static bool commit_release(fi_fiber *f, void *arg)
{
    (void)f;
    release_locks(*(release_op *)arg);
    return true;
}

FI_INLINE void waiter_park(fi_fiber *f, fi_worker *on, release_op op)
{
    if (op.call)
        fi_fiber_park_on(f, commit_release, &op);
    else
        fi_fiber_park_holding(f, on, op.lock);
}

/* [locks held] Undo the enqueuing and release the locks, so that no party wakes the waiter. */
static int cancel_enqueue(fi_waiter *w, release_op op, int error)
{
    if (fi_load_relaxed(&w->waitq))
        waiter_abandon(w);
    else
        waiter_claim(w, NO_ARM);
    release_locks(op);
    return error;
}

FI_INLINE void waiter_park_until(fi_waiter *w, release_op op, int64_t deadline_ns)
{
    fi_worker *on = w->fiber->worker;
    int e;

    w->timer = (fi_timer){.deadline_ns = deadline_ns, .fire = waiter_expire};
    e = fi_timers_add(on->runtime, on, &w->timer);
    if (e < 0) {
        w->result = cancel_enqueue(w, op, e);
        return;
    }
    waiter_park(w->fiber, on, op);
    fi_timer_heap_remove(&w->timer);
}

/* A runtime has no watchdog thread before its first wait, nor in the child of a fork. */
static __attribute__((noinline)) void start_watchdog(fi_runtime *rt)
{
    if (rt->in_fork_child)
        fi_fatal("a fiber waits in the child of a fork, where the other threads do not exist; "
                 "call exec or _exit");
    fi_watchdog_start(rt);
}

FI_INLINE fi_fiber *waiter_begin(fi_waiter *w, fi_worker *on)
{
    fi_runtime *rt = on->runtime;

    if (FI_UNLIKELY(!fi_load_relaxed(&rt->watchdog.started)))
        start_watchdog(rt);
    w->fiber = fi_worker_fiber(on);
    w->since_ns = fi_load_relaxed(&rt->coarse_now_ns);
    return w->fiber;
}

/* A cancelled fiber may retry the wait in a loop.  It yields so that other fibers run. */
static __attribute__((noinline)) int return_cancelled(fi_waiter *w, release_op op)
{
    fi_fiber *f = w->fiber;

    cancel_enqueue(w, op, 0);
    fi_fiber_end_wait(f);
    fi_wait_yield();
    return -ECANCELED;
}

/* A fiber enters the lists of its scopes here, which takes their locks: see cancel.h. */
static __attribute__((noinline)) bool waiter_is_cancelled(const fi_waiter *w, uint32_t state)
{
    if (w->uncancellable)
        return false;
    if (state & FI_CANCEL_OUTSIDE)
        state = fi_cancel_enter(w->fiber);
    return state & FI_CANCEL_DONE;
}

FI_INLINE int waiter_end(const fi_waiter *w, fi_fiber *f)
{
    fi_fiber_end_wait(f);
    fi_wait_chaos();
    return w->result;
}

FI_INLINE int wait_as_fiber(fi_waiter *w, fi_worker *on, release_op op, int64_t deadline_ns)
{
    fi_fiber *f = waiter_begin(w, on);
    uint32_t state = fi_fiber_begin_wait(f, w);

    if (FI_UNLIKELY(state) && waiter_is_cancelled(w, state))
        return return_cancelled(w, op);
    if (deadline_ns == FI_TIMER_NEVER)
        waiter_park(f, on, op);
    else
        waiter_park_until(w, op, deadline_ns);
    return waiter_end(w, f);
}

static int wait_as_thread(fi_waiter *w, release_op op, int64_t deadline_ns)
{
    w->fiber = NULL;
    fi_atomic_init(&w->event, FI_ONESHOT_UNSET);
    w->counted = deadline_ns == FI_TIMER_NEVER;
    if (w->counted)
        fi_watchdog_thread_blocks();
    release_locks(op);
    if (!fi_oneshot_wait_until(&w->event, deadline_ns)) {
        if (w->try_remove(w))
            return -ETIMEDOUT;
        fi_oneshot_wait(
            &w->event); /* a waker has removed the waiter, and is about to set the event */
    }
    return w->result;
}

/* Wakes no worker: the party that made the other fibers ready has done so. */
static bool commit_yield(fi_fiber *f, void *arg)
{
    fi_worker *w = arg;

    if (FI_UNLIKELY(fi_fiber_is_bound(f)))
        fi_bound_push(w, &f->ready);
    else
        fi_worker_push_ready(w, &f->ready);
    w->pick_first |= FI_PICK_UNSTARTED;
    return true;
}

/* If another fiber is ready, it releases the lock of the run queue after this one has left its
 * stack.  If not, this one continues.  At some of the calls the worker looks for work elsewhere. */
FI_INLINE void yield_as_fiber(fi_worker *on)
{
    fi_fiber *f = fi_worker_fiber(on);
    fi_fiber *to = fi_switch_pick_for_yield(on, f);

    if (FI_UNLIKELY(to == f))
        return;
    if (FI_UNLIKELY(!to))
        fi_after_switch_call(on, commit_yield, on);
    fi_switch_to(on, f, to, FI_SWITCH_YIELD);
}

void fi_wait_yield(void)
{
    fi_worker *on = fi_worker_self();

    if (!on)
        fi_thread_yield();
    else if (!on->runtime->in_fork_child)
        yield_as_fiber(on);
}

#ifdef FILCH_CHAOS
void fi_wait_chaos(void)
{
    const fi_worker *on = fi_worker_self();

    if (on && (!fi_load_relaxed(&on->current) || on->in_after_switch))
        return; /* not on a fiber that can park */
    if (fi_chaos(4))
        fi_wait_yield();
}
#endif

/* A caller may retry in a loop with a deadline that has passed.  It yields so that other fibers
 * run.  A structure as an argument would be copied on the stack, which waits for a cold line. */
static __attribute__((noinline)) int waiter_wait(fi_waiter *w, const release_op *release,
                                                 int64_t deadline_ns)
{
    fi_worker *on = fi_worker_self();
    release_op op = *release;

    if (deadline_ns != FI_TIMER_NEVER && deadline_ns <= fi_clock_now()) {
        cancel_enqueue(w, op, 0);
        fi_wait_yield();
        return -ETIMEDOUT;
    }
    return on ? wait_as_fiber(w, on, op, deadline_ns) : wait_as_thread(w, op, deadline_ns);
}

/* The fast path: a fiber without a deadline. */
FI_INLINE int waiter_wait_at(fi_waiter *w, fi_biased_lock *lock, int64_t deadline_ns)
{
    fi_worker *on = fi_worker_self();

    if (FI_UNLIKELY(!on || deadline_ns != FI_TIMER_NEVER))
        return waiter_wait(w, &(release_op){.lock = lock}, deadline_ns);
    return wait_as_fiber(w, on, (release_op){.lock = lock}, FI_TIMER_NEVER);
}

int fi_waitq_wait(fi_waiter *w, fi_waitq *waitq, fi_biased_lock *lock, fi_wait_reason reason,
                  int64_t deadline_ns)
{
    w->reason = reason;
    w->try_remove = waiter_try_remove;
    waitq_push_back(waitq, lock, w);
    return waiter_wait_at(w, lock, deadline_ns);
}

int fi_waitq_wait_front(fi_waiter *w, fi_waitq *waitq, fi_biased_lock *lock, fi_wait_reason reason,
                        int64_t deadline_ns)
{
    w->reason = reason;
    w->try_remove = waiter_try_remove;
    waitq_push_back(waitq, lock, w);
    waitq->first = w; /* the list is circular: the last is before the first */
    return waiter_wait_at(w, lock, deadline_ns);
}

int fi_waitq_wait_then(fi_waiter *w, fi_waitq *waitq, fi_biased_lock *lock, fi_wait_reason reason,
                       int64_t deadline_ns, void (*then)(void *arg), void *arg)
{
    w->reason = reason;
    w->try_remove = waiter_try_remove;
    waitq_push_back(waitq, lock, w);
    return waiter_wait(w, &(release_op){lock, then, arg}, deadline_ns);
}

int fi_waitq_wait_multi(fi_waiter *multi, fi_biased_lock *own, fi_wait_reason reason,
                        void (*release)(void *arg), void *arg, int64_t deadline_ns)
{
    uint32_t arm;
    int e;

    multi->reason = reason;
    multi->try_remove = fi_waiter_multi_try_remove;
    fi_store_relaxed(&multi->waitq, NULL);
    fi_atomic_init(&multi->winner, 0);
    multi->lock = own;
    fi_obj_lock_second(own);
    e = waiter_wait(multi, &(release_op){own, release, arg}, deadline_ns);
    arm = fi_load_relaxed(&multi->winner);
    return arm == NO_ARM ? e : (int)arm;
}
