/* The clock, sleeping, and user timers.
 *
 * A timer starts a detached fiber.  filch_timer_start allocates the record of that call, so that
 * nothing can fail when the timer fires.
 *
 * Each timer has a lock, which serialises its starts and stops by all threads.  Firing does not
 * take it.  A start or stop waits until a firing in progress has ended, which takes a few
 * instructions on another worker.  Only then may it use the fields of the timer. */
#include "base/clock.h"
#include "base/fatal.h"
#include "base/lock.h"
#include "base/message.h"
#include "fiber/start.h"
#include "fiber/timer_calls.h"
#include "sched/runtime.h"
#include "sched/timers.h"
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
    fi_biased_lock lock = FI_BIASED_LOCK_HELD;
    fi_waitq waitq = {0};
    fi_waiter w;
    int e;

    fi_waiter_init(&w, NULL);
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

_Static_assert(sizeof(fi_timer_call) <= FI_RECORD_SIZE(FI_RECORD_SMALL), "must fit into a record");

typedef struct timer {
    fi_timer timer;           /* first */
    fi_lock lock;             /* guards the fields below, and adding and removing the timer */
    FI_ATOMIC(uint32_t) mark; /* STARTED since the first start, which may have failed; 0 before */
    fi_timer_call *call;      /* of the last start, which may have fired; NULL: none, or stopped */
    uint64_t runtime;         /* number of its runtime, which may have stopped */
    FI_ATOMIC(uint64_t) id;   /* of its calls; 0: it has not fired yet.  Written while it fires */
    void (*work)(void *arg);
    void *arg;
    uint64_t n_starts; /* including restarts */
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

/* ---- firing ---- */

/* The storage and the handle of the fiber end before filch_timer_stop_wait returns. */
static void timer_call_run(fi_runnable *r, fi_fiber *f)
{
    fi_timer_call *c = (fi_timer_call *)(void *)r;
    void (*work)(void *arg) = c->work;

    fi_timer_calls_begin(c, f);
    fi_start_begin(f, NULL, (uintptr_t)work);
    work(c->arg);
    if (f->worker->runtime->in_fork_child)
        return;
    fi_fiber_run_at_end(f);
    fi_start_end(f);
    fi_timer_calls_remove(c);
    fi_record_pool_free(&f->worker->records[FI_RECORD_SMALL], c);
}

/* The function of the timer may run from here on.  If it starts or stops the timer, it waits until
 * this call has returned. */
static void timer_fire(fi_timer *public)
{
    timer *t = (timer *)(void *)public;

    if (fi_load_relaxed(&t->id) == 0)
        fi_store_relaxed(&t->id, fi_timer_id_new());
    fi_timer_calls_add(t->call, fi_load_relaxed(&t->id));
    fi_start_submit(fi_worker_self(), &t->call->runnable);
}

/* ---- start and stop ---- */

/* [lock held] Remove the timer from the heap if it is there, and wait until it no longer fires.
 * True: it was there. */
static bool timer_remove(fi_runtime *rt, fi_worker *w, timer *t)
{
    bool was_pending;

    if (!rt || rt->number != t->runtime) /* its runtime has stopped and freed the record */
        return t->timer.index != 0;
    was_pending = fi_timer_heap_remove(&t->timer);
    if (was_pending)
        fi_record_free(rt, w, FI_RECORD_SMALL, t->call);
    return was_pending;
}

/* [lock held] Afterwards the timer is not pending and does not fire.  True: it was pending. */
static bool timer_cancel(fi_runtime *rt, fi_worker *w, timer *t)
{
    bool was_pending = t->call && timer_remove(rt, w, t);

    t->call = NULL;
    return was_pending;
}

/* [lock held, timer cancelled] */
static int timer_add(fi_runtime *rt, fi_worker *w, timer *t, int64_t deadline)
{
    int e;

    t->timer = (fi_timer){.deadline_ns = deadline, .fire = timer_fire};
    t->runtime = rt->number;
    e = fi_timers_add(rt, w, &t->timer);
    if (e < 0) {
        fi_record_free(rt, w, FI_RECORD_SMALL, t->call);
        t->call = NULL;
    }
    return e;
}

/* [lock held] Returns: 1: the timer was pending; 0: it was not; -ENOMEM: it is not. */
static int timer_arm(fi_runtime *rt, fi_worker *w, timer *t, int64_t deadline)
{
    bool was_pending = timer_cancel(rt, w, t);
    fi_timer_call *c = fi_record_alloc(rt, w, FI_RECORD_SMALL);
    int e;

    if (!c)
        return -ENOMEM;
    c->runnable = (fi_runnable){.run = timer_call_run};
    c->work = t->work;
    c->arg = t->arg;
    t->call = c;
    t->n_starts++;
    e = timer_add(rt, w, t, deadline);
    return e < 0 ? e : was_pending;
}

/* rt: NULL: it cannot be started.  A restart may try again. */
static int timer_start(fi_runtime *rt, fi_worker *w, timer *t, int64_t deadline,
                       void (*work)(void *arg), void *arg)
{
    int e;

    timer_lock(t);
    t->work = work;
    t->arg = arg;
    fi_store_relaxed(&t->mark, STARTED);
    e = rt ? timer_arm(rt, w, t, deadline) : fi_runtime_start_error();
    fi_lock_unlock(&t->lock);
    return e < 0 ? e : 0;
}

int filch_timer_start(filch_timer *user, int64_t deadline, void (*work)(void *arg), void *arg)
{
    fi_wait_chaos();
    fi_worker *w = fi_worker_self();
    timer *t = timer_of(user);
    fi_runtime *rt;
    int e;

    if (!work)
        return fi_message_null("filch_timer_start", "work", "a function");
    if (w)
        return timer_start(w->runtime, w, t, deadline, work, arg);
    rt = fi_runtime_enter();
    e = timer_start(rt, NULL, t, deadline, work, arg);
    if (rt)
        fi_runtime_leave(rt);
    return e;
}

static int timer_restart(fi_runtime *rt, fi_worker *w, timer *t, int64_t deadline)
{
    int e;

    timer_lock(t);
    e = timer_arm(rt, w, t, deadline);
    fi_lock_unlock(&t->lock);
    return e;
}

int filch_timer_restart(filch_timer *user, int64_t deadline)
{
    fi_wait_chaos();
    fi_worker *w = fi_worker_self();
    timer *t = timer_of(user);
    fi_runtime *rt;
    int e;

    if (fi_load_relaxed(&t->mark) == 0)
        return fi_message_invalid("filch_timer_restart: the timer was never started (%p); call "
                                  "filch_timer_start first",
                                  (void *)user);
    if (w)
        return timer_restart(w->runtime, w, t, deadline);
    rt = fi_runtime_enter();
    if (!rt)
        return fi_runtime_start_error();
    e = timer_restart(rt, NULL, t, deadline);
    fi_runtime_leave(rt);
    return e;
}

/* n_starts: the number of starts until now; NULL: not needed. */
static int timer_stop_in(fi_runtime *rt, fi_worker *w, timer *t, uint64_t *n_starts)
{
    bool was_pending;

    timer_lock(t);
    was_pending = timer_cancel(rt, w, t);
    if (n_starts)
        *n_starts = t->n_starts;
    fi_lock_unlock(&t->lock);
    return was_pending;
}

static int timer_stop(timer *t, uint64_t *n_starts)
{
    fi_worker *w = fi_worker_self();
    int stopped;

    if (w)
        return timer_stop_in(w->runtime, w, t, n_starts);
    stopped = timer_stop_in(fi_runtime_lock_running(), NULL, t, n_starts);
    fi_runtime_unlock_running();
    return stopped;
}

int filch_timer_stop(filch_timer *t)
{
    fi_wait_chaos();
    return timer_stop(timer_of(t), NULL);
}

static bool timer_was_started(timer *t, uint64_t n_starts)
{
    bool was_started;

    fi_lock_lock(&t->lock);
    was_started = t->n_starts != n_starts;
    fi_lock_unlock(&t->lock);
    return was_started;
}

/* The function may start the timer again before it returns.  If the timer was not started after the
 * stop, no call was listed after the wait.  The id is relaxed: it was written when the timer fired,
 * and a stop waits for that. */
int filch_timer_stop_wait(filch_timer *user)
{
    fi_wait_chaos();
    timer *t = timer_of(user);
    const fi_fiber *f = fi_fiber_self();
    uint64_t n_starts;
    int stopped = 0;

    if (f && fi_timer_calls_contain(fi_load_relaxed(&t->id), f))
        return -EDEADLK;
    do {
        stopped |= timer_stop(t, &n_starts);
        fi_timer_calls_wait(fi_load_relaxed(&t->id), user);
    } while (timer_was_started(t, n_starts));
    return stopped;
}
