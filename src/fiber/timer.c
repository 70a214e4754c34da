/* The clock, sleeping, and user timers.
 *
 * A timer starts a detached fiber.  filch_timer_start allocates the record of that start, so that
 * nothing can fail when the timer fires.
 *
 * Each timer has a lock, which serialises its starts and stops by all threads.  Firing does not
 * take it.  A start or stop waits until a firing in progress has ended, which takes a few
 * instructions on another worker.  Only then may it use the fields of the timer. */
#include "base/clock.h"
#include "base/fatal.h"
#include "base/lock.h"
#include "base/timer_heap.h"
#include "fiber/start.h"
#include "sched/runtime.h"
#include "wait/waitq.h"

#include <filch/time.h>

#include <errno.h>
#include <stddef.h>

int64_t filch_now(void)
{
    return fi_clock_now();
}

/* ---- sleeping ---- */

/* The queue is local, so only the deadline or a cancellation ends the wait. */
int filch_sleep_until(int64_t deadline)
{
    fi_wait_chaos();
    fi_biased_lock lock = {0};
    fi_waitq waitq = {0};
    fi_waiter w = {0};
    int e;

    fi_obj_lock_second(&lock);
    e = fi_waitq_wait(&w, &waitq, &lock, (fi_wait_reason){"sleep", NULL}, deadline);
    return e == -ETIMEDOUT ? 0 : e;
}

int filch_sleep(int64_t ns)
{
    int64_t now = fi_clock_now();

    return filch_sleep_until(ns > INT64_MAX - now ? INT64_MAX : now + ns);
}

/* ---- timers ---- */

#define STARTED 0xf11c4713u /* unlikely in uninitialised memory */

typedef struct timer {
    fi_timer timer;           /* first */
    fi_lock lock;             /* guards the fields below, and adding and removing the timer */
    FI_ATOMIC(uint32_t) mark; /* STARTED since the first start, 0 before */
    fi_runnable *start;       /* of the last start, which may have fired; NULL: none, or stopped */
    uint64_t runtime;         /* number of its runtime, which may have stopped */
} timer;

_Static_assert(sizeof(timer) <= sizeof(filch_timer), "must fit into the public type");
_Static_assert(_Alignof(timer) <= _Alignof(filch_timer), "must fit into the public type");

static timer *timer_of(filch_timer *t)
{
    return (timer *)(void *)t;
}

/* Uninitialised memory could look like a lock that is never released, or like a pending timer. */
static void timer_lock(timer *t)
{
    uint32_t mark = fi_load_relaxed(&t->mark);

    if (mark != 0 && mark != STARTED)
        fi_fatal("filch_timer: the timer was not initialised; use FILCH_TIMER_INIT or zeros");
    fi_lock_lock(&t->lock);
}

/* The function of the timer may run from here on.  If it starts or stops the timer, it waits until
 * this call has returned. */
static void timer_fire(fi_timer *t)
{
    fi_start_submit(fi_worker_self(), ((timer *)(void *)t)->start);
}

/* [lock held] Remove the timer from the heap if it is there, and wait until it no longer fires.
 * True: it was there. */
static bool timer_remove(fi_runtime *rt, fi_worker *w, timer *t)
{
    bool was_pending;

    if (!rt || rt->number != t->runtime) /* its runtime has stopped and freed the record */
        return t->timer.index != 0;
    was_pending = fi_timer_heap_remove(&rt->timers, &t->timer);
    if (was_pending)
        fi_start_cancel(rt, w, t->start);
    return was_pending;
}

/* [lock held] Afterwards the timer is not pending and does not fire.  True: it was pending. */
static bool timer_cancel(fi_runtime *rt, fi_worker *w, timer *t)
{
    bool was_pending = t->start && timer_remove(rt, w, t);

    t->start = NULL;
    return was_pending;
}

/* [lock held, timer cancelled] */
static int timer_add(fi_runtime *rt, fi_worker *w, timer *t, int64_t deadline)
{
    int first;

    t->timer = (fi_timer){.deadline_ns = deadline, .fire = timer_fire};
    fi_store_relaxed(&t->mark, STARTED);
    t->runtime = rt->number;
    first = fi_timer_heap_add(&rt->timers, &t->timer);
    if (first < 0) {
        fi_start_cancel(rt, w, t->start);
        t->start = NULL;
        return first;
    }
    if (first > 0)
        fi_idle_notify(&rt->idle);
    return 0;
}

static int timer_start(fi_runtime *rt, fi_worker *w, timer *t, int64_t deadline,
                       void (*work)(void *arg), void *arg)
{
    int e = -ENOMEM;

    timer_lock(t);
    timer_cancel(rt, w, t);
    t->start = fi_start_prepare(rt, w, work, arg);
    if (t->start)
        e = timer_add(rt, w, t, deadline);
    fi_lock_unlock(&t->lock);
    return e;
}

int filch_timer_start(filch_timer *user, int64_t deadline, void (*work)(void *arg), void *arg)
{
    fi_wait_chaos();
    fi_worker *w = fi_worker_self();
    timer *t = timer_of(user);
    fi_runtime *rt;
    int e;

    if (w)
        return timer_start(w->runtime, w, t, deadline, work, arg);
    rt = fi_runtime_enter();
    e = timer_start(rt, NULL, t, deadline, work, arg);
    fi_runtime_leave(rt);
    return e;
}

static int timer_stop(fi_runtime *rt, fi_worker *w, timer *t)
{
    bool was_pending;

    timer_lock(t);
    was_pending = timer_cancel(rt, w, t);
    fi_lock_unlock(&t->lock);
    return was_pending;
}

int filch_timer_stop(filch_timer *user)
{
    fi_wait_chaos();
    fi_worker *w = fi_worker_self();
    int stopped;

    if (w)
        return timer_stop(w->runtime, w, timer_of(user));
    stopped = timer_stop(fi_runtime_lock_running(), NULL, timer_of(user));
    fi_runtime_unlock_running();
    return stopped;
}
