/* Strands: serial queues of functions.
 *
 * The first function that is submitted to an idle strand starts the drain: a fiber that takes all
 * queued functions at once, runs them in order, and repeats this until the queue is empty.  The
 * queue entry of the drain is part of the strand, so its start cannot fail.  Under the lock the
 * strand is either RUNNING or its queue is empty.
 *
 * The drain does not touch the strand after it has released the lock without RUNNING.  A call that
 * stops the strand takes the lock as well, so its caller may free the strand. */
#include "base/message.h"
#include "sched/runtime.h"
#include "sched/span.h"
#include "sched/tracepoint.h"
#include "wait/wake_list.h"

#include <filch/strand.h>

#include <errno.h>
#include <stddef.h>

#define FUNCTIONS_PER_YIELD 64u

enum {
    RUNNING = 1, /* the drain runs or is about to */
    STOPPED = 2,
};

typedef struct strand_work strand_work;
struct strand_work {
    strand_work *next;
    void (*work)(void *arg); /* NULL: filch_strand_wait */
    void *arg;
    fi_waitq *caller; /* the entry is on its stack; NULL: the entry is a record */
};

_Static_assert(sizeof(strand_work) <= FI_RECORD_SIZE(FI_RECORD_SMALL), "must fit into a record");

/* The layout of filch_strand. */
typedef struct strand {
    fi_biased_lock lock;
    fi_waitq stoppers;
    strand_work *first, *last; /* the queue */
    fi_runnable drain;
    FI_ATOMIC(const fi_fiber *) fiber; /* of the drain; NULL: it does not run */
    uint32_t state;
} strand;

_Static_assert(sizeof(strand) == sizeof(filch_strand), "one layout");
_Static_assert(_Alignof(strand) <= _Alignof(filch_strand), "one layout");

static strand *strand_of(filch_strand *s)
{
    return (strand *)(void *)s;
}

/* ---- drain ---- */

/* [lock held] */
static strand_work *strand_take_all(strand *s)
{
    strand_work *all = s->first;

    s->first = NULL;
    return all;
}

/* The next functions.  NULL: there are none, the strand is idle, and it may be gone. */
static strand_work *strand_next(strand *s)
{
    fi_wake_list woken = {0};
    strand_work *all;

    fi_obj_lock(&s->lock);
    all = strand_take_all(s);
    if (!all) {
        s->state &= ~(uint32_t)RUNNING;
        fi_store_relaxed(&s->fiber, NULL);
        fi_wake_list_take_all(&woken, &s->stoppers, 0);
    } else {
        FI_SPAN(collect(s));
    }
    fi_obj_unlock(&s->lock);
    fi_wake_list_wake(woken);
    return all;
}

/* Afterwards the entry of the caller is gone. */
static void strand_wake_caller(strand *s, fi_waitq *caller)
{
    fi_wake_list woken = {0};

    fi_obj_lock(&s->lock);
    fi_wake_list_take_all(&woken, caller, 0);
    fi_obj_unlock(&s->lock);
    fi_wake_list_wake(woken);
}

/* A record is freed first, so that functions which this one submits can use it. */
static void strand_run_one(strand *s, fi_fiber *f, strand_work *entry)
{
    strand_work p = *entry;

    if (!p.caller)
        fi_record_pool_free(&f->worker->records[FI_RECORD_SMALL], entry);
    if (p.work) {
        fi_fiber_begin_function(f, (uintptr_t)p.work);
        p.work(p.arg);
        fi_fiber_end_function(f);
    } else if (!p.caller) {
        fi_message_null("filch_strand_run", "work", "a function");
    }
    if (p.caller && !f->worker->runtime->in_fork_child)
        strand_wake_caller(s, p.caller);
}

/* In the child of a fork the rest is left to the parent process. */
static void strand_drain(fi_runnable *r, fi_fiber *f)
{
    strand *s = (strand *)(void *)((char *)r - offsetof(strand, drain));
    strand_work *p;
    unsigned n = 0;

    f->work = NULL;
    fi_store_relaxed(&s->fiber, f);
    while ((p = strand_next(s)) != NULL)
        while (p) {
            strand_work *next = p->next;
            strand_run_one(s, f, p);
            if (f->worker->runtime->in_fork_child)
                return;
            if (++n % FUNCTIONS_PER_YIELD == 0)
                fi_wait_yield();
            p = next;
        }
    fi_count(&f->worker->counters.jobs_ended);
}

/* [caller that has set RUNNING; lock released] */
static void strand_start(fi_runtime *rt, fi_worker *w, strand *s)
{
    s->drain = (fi_runnable){.run = strand_drain};
    if (w) {
        fi_count(&w->counters.jobs_given);
        fi_submit_local(w, &s->drain);
    } else {
        fi_fetch_add_relaxed(&rt->n_external_submits, UINT64_C(1));
        fi_submit_external(rt, &s->drain);
    }
}

/* ---- submit ---- */

/* [lock held] */
FI_INLINE void strand_append(strand *s, strand_work *p)
{
    p->next = NULL;
    if (s->first)
        s->last->next = p;
    else
        s->first = p;
    s->last = p;
}

/* [lock held, which this releases] rt: of a caller that is not a worker. */
static FI_NOINLINE int strand_append_idle(fi_runtime *rt, fi_worker *w, strand *s, strand_work *p)
{
    if (s->state & STOPPED) {
        fi_obj_unlock(&s->lock);
        fi_record_free(rt, w, FI_RECORD_SMALL, p);
        return -EPIPE;
    }
    strand_append(s, p);
    s->state |= RUNNING;
    fi_obj_unlock(&s->lock);
    strand_start(rt, w, s);
    return 0;
}

/* [lock held, which this releases] fast: how the lock was taken, a constant. */
FI_INLINE int strand_submit_locked(fi_runtime *rt, fi_worker *w, strand *s, strand_work *p,
                                   uint32_t id, bool fast)
{
    if (s->state != RUNNING)
        return strand_append_idle(rt, w, s, p);
    strand_append(s, p);
    fi_biased_lock_unlock_as(&s->lock, id, fast);
    return 0;
}

static FI_NOINLINE int strand_submit_slow(fi_runtime *rt, fi_worker *w, strand *s, strand_work *p,
                                          uint32_t id)
{
    fi_biased_lock_lock_slow(&s->lock, id);
    return strand_submit_locked(rt, w, s, p, id, false);
}

FI_INLINE int strand_submit(fi_runtime *rt, fi_worker *w, strand *s, strand_work *p,
                            void (*work)(void *arg), void *arg)
{
    uint32_t id = fi_lock_id();

    p->work = work;
    p->arg = arg;
    p->caller = NULL;
    if (!fi_biased_lock_try_fast(&s->lock, id))
        return strand_submit_slow(rt, w, s, p, id);
    return strand_submit_locked(rt, w, s, p, id, true);
}

static FI_NOINLINE int strand_alloc_and_submit(fi_runtime *rt, fi_worker *w, strand *s,
                                               void (*work)(void *arg), void *arg)
{
    strand_work *p = fi_record_alloc(rt, w, FI_RECORD_SMALL);

    FI_SPAN(join(s));
    return p ? strand_submit(rt, w, s, p, work, arg) : -ENOMEM;
}

static FI_NOINLINE int strand_submit_external(strand *s, void (*work)(void *arg), void *arg)
{
    fi_runtime *rt = fi_runtime_enter();
    int e;

    if (!rt)
        return fi_runtime_start_error();
    e = strand_alloc_and_submit(rt, NULL, s, work, arg);
    fi_runtime_leave(rt);
    return e;
}

/* The fast path calls no function, and so saves no registers. */
int filch_strand_run(filch_strand *s, void (*work)(void *arg), void *arg)
{
    fi_wait_chaos();
    fi_worker *w = fi_worker_self();
    fi_record_pool *records;

    if (FI_UNLIKELY(!w))
        return strand_submit_external(strand_of(s), work, arg);
    records = &w->records[FI_RECORD_SMALL];
    if (FI_UNLIKELY(fi_span_is_on() || !records->free))
        return strand_alloc_and_submit(w->runtime, w, strand_of(s), work, arg);
    return strand_submit(NULL, w, strand_of(s), fi_record_pool_alloc(records), work, arg);
}

/* ---- call, wait and stop ---- */

static bool strand_is_own(strand *s)
{
    const fi_fiber *f = fi_fiber_self();

    return f && fi_load_relaxed(&s->fiber) == f;
}

typedef struct strand_start_op {
    fi_runtime *runtime;
    strand *strand;
} strand_start_op;

/* Called after the caller has left its stack, on which op is.  Its function has not run yet. */
static void strand_start_then(void *op)
{
    strand_start_op o = *(strand_start_op *)op;

    strand_start(o.runtime, fi_worker_self(), o.strand);
}

/* [lock held, which this releases] Wait until the drain wakes the queue.  If the drain does not run
 * yet, start it. */
static void strand_wait_in(fi_runtime *rt, strand *s, fi_waitq *waitq)
{
    strand_start_op start = {rt, s};
    fi_waiter w = {.uncancellable = true};
    fi_wait_reason reason = {"strand", s};

    if (s->state & RUNNING) {
        fi_waitq_wait(&w, waitq, &s->lock, reason, FI_TIMER_NEVER);
        return;
    }
    s->state |= RUNNING;
    fi_waitq_wait_then(&w, waitq, &s->lock, reason, FI_TIMER_NEVER, strand_start_then, &start);
}

static int strand_call(fi_runtime *rt, strand *s, void (*work)(void *arg), void *arg)
{
    fi_waitq caller = {0};
    strand_work p = {.work = work, .arg = arg, .caller = &caller};

    fi_obj_lock(&s->lock);
    if (s->state & STOPPED) {
        fi_obj_unlock(&s->lock);
        return -EPIPE;
    }
    FI_SPAN(join(s));
    strand_append(s, &p);
    strand_wait_in(rt, s, &caller);
    return 0;
}

int filch_strand_call(filch_strand *public, void (*work)(void *arg), void *arg)
{
    fi_wait_chaos();
    strand *s = strand_of(public);
    const fi_worker *w = fi_worker_self();
    fi_runtime *rt;
    int e;

    if (!work)
        return fi_message_null("filch_strand_call", "work", "a function");
    if (strand_is_own(s))
        return -EDEADLK;
    if (w)
        return strand_call(w->runtime, s, work, arg);
    rt = fi_runtime_enter();
    if (!rt)
        return fi_runtime_start_error();
    e = strand_call(rt, s, work, arg);
    fi_runtime_leave(rt);
    return e;
}

/* An entry without a function, so that functions which are submitted later are not waited for. */
int filch_strand_wait(filch_strand *public)
{
    fi_wait_chaos();
    strand *s = strand_of(public);
    fi_waitq caller = {0};
    strand_work p = {.caller = &caller};

    if (strand_is_own(s))
        return -EDEADLK;
    fi_obj_lock(&s->lock);
    if (s->state & RUNNING) {
        strand_append(s, &p);
        strand_wait_in(NULL, s, &caller);
    } else {
        fi_obj_unlock(&s->lock);
    }
    return 0;
}

int filch_strand_stop(filch_strand *public)
{
    fi_wait_chaos();
    strand *s = strand_of(public);

    if (strand_is_own(s))
        return -EDEADLK;
    fi_obj_lock(&s->lock);
    s->state |= STOPPED;
    if (s->state & RUNNING)
        strand_wait_in(NULL, s, &s->stoppers);
    else
        fi_obj_unlock(&s->lock);
    return 0;
}
