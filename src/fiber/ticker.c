/* Tickers: a function that is called periodically.
 *
 * A ticker is a timer that is added again when its function has returned.  Its queue entry is part
 * of the ticker, and its place in the timer heap is reserved, so that only the start can fail.
 *
 *     is_started  is_calling
 *     no          no          stopped
 *     yes         no          in the timer heap, or about to fire
 *     yes         yes         the function runs, or is about to; then the timer is added again
 *     no          yes         the function runs for the last time
 *
 * Starts and stops take the control lock, which serialises them.  Firing and the end of a call take
 * the state lock alone.  A call that removes the timer from the heap waits until it no longer
 * fires, so it must not hold the state lock. */
#include "base/clock.h"
#include "base/fatal.h"
#include "base/lock.h"
#include "base/message.h"
#include "fiber/start.h"
#include "sched/runtime.h"
#include "sched/timers.h"
#include "wait/wake_list.h"

#include <filch/time.h>

#include <errno.h>
#include <stddef.h>

#define INITIALISED 0x71c4e713u /* unlikely in uninitialised memory */

typedef struct ticker {
    fi_timer timer;           /* first */
    fi_lock control;          /* guards the next six, and adding and removing by start and stop */
    FI_ATOMIC(uint32_t) mark; /* INITIALISED since the first start, 0 before */
    int64_t period_ns;
    uint64_t runtime; /* number of its runtime, which may have stopped */
    void (*work)(void *arg);
    void *arg;
    fi_runnable entry;     /* of the fiber that calls the function */
    fi_biased_lock state;  /* guards the rest */
    fi_waitq stoppers;     /* wait for the end of the call */
    const fi_fiber *fiber; /* that calls the function; NULL: none */
    bool is_started, is_calling;
} ticker;

_Static_assert(sizeof(ticker) <= sizeof(filch_ticker), "must fit into the public type");
_Static_assert(_Alignof(ticker) <= _Alignof(filch_ticker), "must fit into the public type");

static ticker *ticker_of(filch_ticker *t)
{
    return (ticker *)(void *)t;
}

/* Uninitialised memory could look like a lock that is never released. */
static void ticker_lock(ticker *t)
{
    uint32_t mark = fi_load_relaxed(&t->mark);

    if (mark != 0 && mark != INITIALISED)
        fi_fatal("filch_ticker: the ticker was not initialised; use FILCH_TICKER_INIT or zeros");
    fi_lock_lock(&t->control);
}

/* ---- ticking ---- */

/* The first tick after now.  Ticks that were missed are skipped.  Unsigned, because the last tick
 * may be INT64_MIN. */
static int64_t next_tick(int64_t last, int64_t period, int64_t now)
{
    if (now > last)
        last = now - (int64_t)(((uint64_t)now - (uint64_t)last) % (uint64_t)period);
    return last > INT64_MAX - period ? FI_TIMER_NEVER : last + period;
}

/* [state locked] */
static void ticker_add(fi_runtime *rt, ticker *t, int64_t deadline)
{
    t->timer.deadline_ns = deadline;
    fi_timers_added(rt, deadline, fi_timer_heap_add_reserved(&t->timer));
}

/* The timer may still be firing on another worker.  It is added again after that.  A ticker that
 * was stopped may be gone when its state is unlocked. */
static void ticker_end_call(fi_runtime *rt, ticker *t)
{
    fi_wake_list woken = {0};

    fi_timer_heap_remove(&t->timer);
    fi_obj_lock(&t->state);
    t->is_calling = false;
    t->fiber = NULL;
    if (t->is_started)
        ticker_add(rt, t, next_tick(t->timer.deadline_ns, t->period_ns, fi_clock_now()));
    fi_wake_list_take_all(&woken, &t->stoppers, 0);
    fi_obj_unlock(&t->state);
    fi_wake_list_wake(woken);
}

static void ticker_run(fi_runnable *r, fi_fiber *f)
{
    ticker *t = (ticker *)(void *)((char *)r - offsetof(ticker, entry));

    fi_obj_lock(&t->state);
    t->fiber = f;
    fi_obj_unlock(&t->state);
    fi_start_begin(f, NULL, (uintptr_t)t->work);
    t->work(t->arg);
    if (f->worker->runtime->in_fork_child)
        return;
    fi_fiber_run_at_end(f);
    fi_start_end(f);
    ticker_end_call(f->worker->runtime, t);
}

static void ticker_fire(fi_timer *timer)
{
    ticker *t = (ticker *)(void *)timer;

    fi_obj_lock(&t->state);
    t->is_calling = true;
    fi_obj_unlock(&t->state);
    fi_start_submit(fi_worker_self(), &t->entry);
}

/* ---- start and stop ---- */

/* [control locked] Is it started, or does it run its function, in this runtime? */
static bool ticker_is_busy(const fi_runtime *rt, ticker *t)
{
    bool is_busy;

    fi_obj_lock(&t->state);
    is_busy = (t->is_started || t->is_calling) && t->runtime == rt->number;
    fi_obj_unlock(&t->state);
    return is_busy;
}

static void ticker_start_idle(fi_runtime *rt, fi_timer_heap *heap, ticker *t, int64_t first)
{
    fi_store_relaxed(&t->mark, INITIALISED);
    t->runtime = rt->number;
    t->entry = (fi_runnable){.run = ticker_run};
    t->timer = (fi_timer){.fire = ticker_fire, .heap = heap};
    fi_obj_lock(&t->state);
    t->is_started = true;
    t->is_calling = false;
    ticker_add(rt, t, first);
    fi_obj_unlock(&t->state);
}

static int ticker_start(fi_runtime *rt, ticker *t, const ticker *as, int64_t first)
{
    fi_timer_heap *heap = fi_timers_heap(rt, fi_worker_self());
    int e;

    ticker_lock(t);
    e = ticker_is_busy(rt, t) ? -EBUSY : fi_timer_heap_reserve(heap);
    if (e == 0) {
        t->period_ns = as->period_ns;
        t->work = as->work;
        t->arg = as->arg;
        ticker_start_idle(rt, heap, t, first);
    }
    fi_lock_unlock(&t->control);
    return e;
}

int filch_ticker_start(filch_ticker *user, int64_t first, int64_t period, void (*work)(void *arg),
                       void *arg)
{
    fi_wait_chaos();
    const fi_worker *w = fi_worker_self();
    ticker as = {.period_ns = period, .work = work, .arg = arg};
    fi_runtime *rt;
    int e;

    if (!work)
        return fi_message_null("filch_ticker_start", "work", "a function");
    if (period <= 0)
        return fi_message_invalid("filch_ticker_start: the period is not positive (%lld); use at "
                                  "least 1 nanosecond",
                                  (long long)period);
    if (w)
        return ticker_start(w->runtime, ticker_of(user), &as, first);
    rt = fi_runtime_enter();
    if (!rt)
        return fi_runtime_start_error();
    e = ticker_start(rt, ticker_of(user), &as, first);
    fi_runtime_leave(rt);
    return e;
}

/* [control locked] Returns: 1: it was started. */
static int ticker_stop_started(ticker *t)
{
    bool was_started;

    fi_obj_lock(&t->state);
    was_started = t->is_started;
    t->is_started = false;
    fi_obj_unlock(&t->state);
    return was_started;
}

/* A ticker whose runtime has stopped is not in a heap, and its function does not run. */
static int ticker_stop_in(fi_runtime *rt, ticker *t, bool *may_call)
{
    int was_started;

    ticker_lock(t);
    was_started = ticker_stop_started(t);
    *may_call = rt && t->runtime == rt->number && !fi_timer_heap_remove(&t->timer);
    if (was_started && rt && t->runtime == rt->number)
        fi_timer_heap_unreserve(t->timer.heap);
    fi_lock_unlock(&t->control);
    return was_started;
}

static void ticker_wait(ticker *t)
{
    fi_waiter w = {.uncancellable = true};
    const fi_fiber *f = fi_fiber_self();

    fi_obj_lock(&t->state);
    if (t->is_calling && !(f && f == t->fiber))
        fi_waitq_wait(&w, &t->stoppers, &t->state, (fi_wait_reason){"ticker", t}, FI_TIMER_NEVER);
    else
        fi_obj_unlock(&t->state);
}

int filch_ticker_stop(filch_ticker *user)
{
    fi_wait_chaos();
    const fi_worker *w = fi_worker_self();
    ticker *t = ticker_of(user);
    bool may_call;
    int was_started;

    if (w) {
        was_started = ticker_stop_in(w->runtime, t, &may_call);
    } else {
        was_started = ticker_stop_in(fi_runtime_lock_running(), t, &may_call);
        fi_runtime_unlock_running();
    }
    if (may_call)
        ticker_wait(t);
    return was_started;
}
