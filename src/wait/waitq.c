/* Lines, and how who stands in one falls asleep and wakes. */
#include "wait/waitq.h"

#include "base/at_fork.h"
#include "base/chaos.h"
#include "base/clock.h"
#include "base/fatal.h"
#include "base/oneshot.h"
#include "sched/fiber_pin.h"
#include "sched/switch.h"
#include "sched/watchdog.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#define WITHDRAWN UINT32_MAX /* in a claim: by no arm */

/* ---- waitqs, under their lock ---- */

FI_INLINE void add(fi_waitq *waitq, fi_biased_lock *lock, fi_waiter *w)
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
    add(waitq, lock, w);
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

/* Relaxed: reason goes with it is handed over by locks and queues. */
static bool waiter_claim(fi_waiter *multi, uint32_t as)
{
    uint32_t none = 0;

    return fi_cas_relaxed(&multi->winner, &none, as);
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

/* ---- ending ---- */

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

/* [lock held] Not because somebody took it out. */
static void leave(fi_waiter *w)
{
    fi_waitq_remove(w);
    if (w->on_abandon)
        w->on_abandon(w);
}

static bool waiter_try_remove_plain(fi_waiter *w)
{
    bool stood;

    fi_obj_lock(w->lock);
    stood = fi_load_relaxed(&w->waitq) != NULL;
    if (stood)
        leave(w);
    fi_obj_unlock(w->lock);
    return stood;
}

/* A deadline or a cancellation may come after the wait was removed and its channel was freed.  So
 * it checks the wait first, under a guard that the freeing party takes as well.  The guard is taken
 * before the lock. */
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
    bool stood;

    if (!w->freeable)
        return waiter_try_remove_plain(w);
    fi_obj_lock_second(g);
    stood = fi_load_relaxed(&w->waitq) && waiter_try_remove_plain(w);
    fi_obj_unlock(g);
    return stood;
}

void fi_waitq_before_free(const fi_biased_lock *lock)
{
    fi_biased_lock *g = guard_of(lock);

    fi_obj_lock_second(g);
    fi_obj_unlock(g);
}

/* [child of a fork] No other thread withdraws a wait. */
static void forget_guards(void)
{
    memset(guards, 0, sizeof guards);
}

__attribute__((constructor)) static void register_at_fork(void)
{
    fi_at_fork(FI_FORK_WAITS, NULL, forget_guards);
}

/* Under its lock, as its fiber lets that go only after it has left its stack. */
static bool multi_try_remove(fi_waiter *w)
{
    bool first;

    fi_obj_lock_second(w->lock);
    first = waiter_claim(w, WITHDRAWN);
    fi_obj_unlock(w->lock);
    return first;
}

static void waiter_end_early(fi_waiter *w, int error)
{
    if (w->try_remove(w)) {
        w->result = error;
        fi_waiter_wake(w);
    }
}

/* The fiber will run soon, and has been away for long: reason it goes on with, and its frames around the wait. */
static void prefetch(const fi_waiter *w)
{
    const fi_fiber *f = w->fiber;

    if (!f)
        return;
    FI_PREFETCH(&f->bounds);
    FI_PREFETCH(&f->ctx);
    FI_PREFETCH(&f->stack_bounds);
    FI_PREFETCH((const char *)w - FI_CACHE_LINE);
    FI_PREFETCH(w + 1);
}

static void waiter_expire(fi_timer *t)
{
    fi_waiter *w = (fi_waiter *)(void *)((char *)t - offsetof(fi_waiter, timer));

    prefetch(w);
    waiter_end_early(w, -ETIMEDOUT);
}

/* ---- who looks at reason a fiber waits for ---- */

void fi_fiber_cancel_wait(fi_fiber *f)
{
    fi_waiter *w;

    fi_store_relaxed(&f->cancelled, 1u);
    w = fi_fiber_pinned_wait(f);
    if (w && !w->uncancellable)
        waiter_end_early(w, -ECANCELED);
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

static fi_worker *runner_of(fi_runtime *rt, fi_fiber *f)
{
    for (unsigned i = 0; i < rt->n_workers; i++)
        if (fi_fiber_is_on(f, &rt->workers[i].current, &rt->workers[i].leaving))
            return &rt->workers[i];
    return NULL;
}

fi_worker *fi_fiber_freeze_in(fi_runtime *rt, fi_fiber *f, const fi_waiter **waiting)
{
    *waiting = fi_fiber_freeze(f);
    return runner_of(rt, f);
}

bool fi_waiter_is_done(const fi_waiter *w)
{
    return w->try_remove == multi_try_remove ? fi_load_relaxed(&w->winner) != 0
                                             : fi_load_relaxed(&w->waitq) == NULL;
}

void fi_fiber_wait_unpinned(fi_fiber *f)
{
    fi_fiber_await_unpinned(f);
}

/* ---- waiting ---- */

/* How reason guards the waitqs is let go: one lock, or in parts. */
typedef struct release_op {
    fi_biased_lock *lock;
    void (*call)(void *arg);
    void *arg;
} release_op;

/* Of a multi the last of the parts' locks goes last: the fiber takes all of them once more before it goes on, so
 * until then its stack is there. */
static void release(release_op l)
{
    fi_obj_unlock(l.lock);
    if (l.call)
        l.call(l.arg);
}

static bool commit_parts(fi_fiber *f, void *arg)
{
    (void)f;
    release(*(release_op *)arg);
    return true;
}

FI_INLINE void park(fi_fiber *f, fi_worker *on, release_op l)
{
    if (l.call)
        fi_fiber_park_on(f, commit_parts, &l);
    else
        fi_fiber_park_holding(f, on, l.lock);
}

/* [locks held] Nobody shall wake us. */
static int cancel_enqueue(fi_waiter *w, release_op l, int error)
{
    if (fi_load_relaxed(&w->waitq))
        leave(w);
    else
        waiter_claim(w, WITHDRAWN);
    release(l);
    return error;
}

FI_INLINE void park_until(fi_waiter *w, release_op l, int64_t deadline_ns)
{
    fi_runtime *rt = w->fiber->worker->runtime;

    int first;

    w->timer = (fi_timer){.deadline_ns = deadline_ns, .fire = waiter_expire};
    first = fi_timer_heap_add(&rt->timers, &w->timer);
    if (first < 0) {
        w->result = cancel_enqueue(w, l, first);
        return;
    }
    if (first > 0)
        fi_idle_notify(&rt->idle);
    park(w->fiber, w->fiber->worker, l);
    fi_timer_heap_remove(&rt->timers, &w->timer);
}

/* Before its first wait a runtime has no watcher; in the child of a fork it has none again. */
static __attribute__((noinline)) void begin_watching(fi_runtime *rt)
{
    if (rt->in_fork_child)
        fi_fatal("a wait, in the child of a fork, for reason other threads were doing");
    fi_watchdog_start(rt);
}

FI_INLINE fi_fiber *become_waiting(fi_waiter *w, fi_worker *on)
{
    fi_runtime *rt = on->runtime;

    if (FI_UNLIKELY(!fi_load_relaxed(&rt->watchdog.started)))
        begin_watching(rt);
    w->fiber = fi_fiber_of_bounds(fi_load_relaxed(&on->current));
    w->since_ns = fi_load_relaxed(&rt->coarse_now_ns);
    return w->fiber;
}

/* Who does not care goes on asking, and others are to come to run. */
static __attribute__((noinline)) int return_cancelled(fi_waiter *w, release_op l)
{
    fi_fiber *f = w->fiber;

    cancel_enqueue(w, l, 0);
    fi_fiber_end_wait(f);
    fi_wait_yield();
    return -ECANCELED;
}

FI_INLINE int end_waiting(const fi_waiter *w, fi_fiber *f)
{
    fi_fiber_end_wait(f);
    fi_wait_chaos();
    return w->result;
}

FI_INLINE int wait_as_fiber(fi_waiter *w, fi_worker *on, release_op l, int64_t deadline_ns)
{
    fi_fiber *f = become_waiting(w, on);

    if (FI_UNLIKELY(fi_fiber_begin_wait(f, w)) && !w->uncancellable)
        return return_cancelled(w, l);
    if (deadline_ns == FI_TIMER_NEVER)
        park(f, on, l);
    else
        park_until(w, l, deadline_ns);
    return end_waiting(w, f);
}

static int wait_as_thread(fi_waiter *w, release_op l, int64_t deadline_ns)
{
    w->fiber = NULL;
    fi_atomic_init(&w->event, FI_ONESHOT_UNSET);
    w->counted = deadline_ns == FI_TIMER_NEVER;
    if (w->counted)
        fi_watchdog_thread_blocks();
    release(l);
    if (!fi_oneshot_wait_until(&w->event, deadline_ns)) {
        if (w->try_remove(w))
            return -ETIMEDOUT;
        fi_oneshot_wait(&w->event); /* somebody is about to open it */
    }
    return w->result;
}

/* Whoever made the others ready has woken somebody for them. */
static bool commit_yield(fi_fiber *f, void *arg)
{
    fi_worker *w = arg;

    fi_worker_push_ready(w, &f->ready);
    w->unstarted_first = true;
    return true;
}

/* The one in waitq lets the lock of that go once this is off its stack; without one the worker looks for another. */
FI_INLINE void yield_as_fiber(fi_worker *on)
{
    fi_fiber *f = fi_fiber_of_bounds(fi_load_relaxed(&on->current));
    fi_fiber *to = fi_switch_pick_for_yield(on, f);

    if (FI_LIKELY(to)) {
        on->after_switch.unlock = &on->ready.lock;
        on->after_switch.lock_id = fi_worker_lock_id(on);
    } else {
        on->after_switch.callback = commit_yield;
        on->after_switch.arg = on;
    }
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
        return; /* it cannot park here */
    if (fi_chaos(4))
        fi_wait_yield();
}
#endif

/* Who asks again and again with a deadline that is over must still let others run, or it asks for ever. */
static __attribute__((noinline)) int waiter_wait(fi_waiter *w, release_op l, int64_t deadline_ns)
{
    fi_worker *on = fi_worker_self();

    if (deadline_ns != FI_TIMER_NEVER && deadline_ns <= fi_clock_now()) {
        cancel_enqueue(w, l, 0);
        fi_wait_yield();
        return -ETIMEDOUT;
    }
    return on ? wait_as_fiber(w, on, l, deadline_ns) : wait_as_thread(w, l, deadline_ns);
}

/* A fiber without a deadline goes the short way. */
FI_INLINE int waiter_wait_at(fi_waiter *w, fi_biased_lock *lock, int64_t deadline_ns)
{
    fi_worker *on = fi_worker_self();

    if (FI_UNLIKELY(!on || deadline_ns != FI_TIMER_NEVER))
        return waiter_wait(w, (release_op){.lock = lock}, deadline_ns);
    return wait_as_fiber(w, on, (release_op){.lock = lock}, FI_TIMER_NEVER);
}

int fi_waitq_wait(fi_waiter *w, fi_waitq *waitq, fi_biased_lock *lock, fi_wait_reason reason,
                  int64_t deadline_ns)
{
    w->reason = reason;
    w->try_remove = waiter_try_remove;
    add(waitq, lock, w);
    return waiter_wait_at(w, lock, deadline_ns);
}

int fi_waitq_wait_front(fi_waiter *w, fi_waitq *waitq, fi_biased_lock *lock, fi_wait_reason reason,
                        int64_t deadline_ns)
{
    w->reason = reason;
    w->try_remove = waiter_try_remove;
    add(waitq, lock, w);
    waitq->first = w; /* in a circle, the last stands before the first */
    return waiter_wait_at(w, lock, deadline_ns);
}

int fi_waitq_wait_then(fi_waiter *w, fi_waitq *waitq, fi_biased_lock *lock, fi_wait_reason reason,
                       int64_t deadline_ns, void (*then)(void *arg), void *arg)
{
    w->reason = reason;
    w->try_remove = waiter_try_remove;
    add(waitq, lock, w);
    return waiter_wait(w, (release_op){lock, then, arg}, deadline_ns);
}

int fi_waitq_wait_multi(fi_waiter *multi, fi_biased_lock *own, fi_wait_reason reason,
                        void (*call)(void *arg), void *arg, int64_t deadline_ns)
{
    uint32_t arm;
    int e;

    multi->reason = reason;
    multi->try_remove = multi_try_remove;
    fi_store_relaxed(&multi->waitq, NULL);
    fi_atomic_init(&multi->winner, 0);
    multi->lock = own;
    fi_obj_lock_second(own);
    e = waiter_wait(multi, (release_op){own, call, arg}, deadline_ns);
    arm = fi_load_relaxed(&multi->winner);
    return arm == WITHDRAWN ? e : (int)arm;
}
