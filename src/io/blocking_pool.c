#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pthread_setname_np */
#endif
#include "io/blocking_pool.h"

#include "base/clock.h"
#include "base/exit_guard.h"
#include "base/fatal.h"
#include "base/message.h"
#include "base/oneshot.h"
#include "io/io.h"
#include "sched/switch.h"
#include "sched/tracepoint.h"
#include "sched/watchdog.h"

#include <filch/io.h>

#include <errno.h>
#include <stdio.h>

#define IDLE_NS INT64_C(5000000000)

/* An idle thread, on its own stack. */
struct fi_blocking_thread {
    FI_ATOMIC(uint32_t) wake; /* a one-shot event */
    fi_blocking_call *call;   /* set before wake; NULL: exit */
    fi_blocking_thread *next;
    bool is_idle;
};

/* ---- the queue ---- */

/* [lock held] */
static void push_call(fi_blocking_pool *p, fi_blocking_call *c)
{
    c->next = NULL;
    if (p->first)
        p->last->next = c;
    else
        p->first = c;
    p->last = c;
}

/* [lock held] */
static fi_blocking_call *pop_call(fi_blocking_pool *p)
{
    fi_blocking_call *c = p->first;

    if (c)
        p->first = c->next;
    return c;
}

/* Returns false if a thread has taken it. */
static bool try_remove_call(fi_blocking_pool *p, fi_blocking_call *c)
{
    fi_blocking_call *before = NULL, *at;

    fi_lock_lock(&p->lock);
    for (at = p->first; at && at != c; at = at->next)
        before = at;
    if (at && before)
        before->next = c->next;
    else if (at)
        p->first = c->next;
    if (at && p->last == c)
        p->last = before;
    fi_lock_unlock(&p->lock);
    return at != NULL;
}

/* After the unlock the caller may free the call, unless it has abandoned it. */
static void complete_call(fi_blocking_call *c, int64_t result, bool failed)
{
    fi_waiter *w;
    bool abandoned;

    fi_obj_lock_second(&c->lock);
    c->result = result;
    c->failed = failed;
    c->done = true;
    abandoned = c->abandoned;
    w = fi_waitq_pop(&c->caller);
    fi_obj_unlock(&c->lock);
    if (w)
        fi_waiter_wake(w);
    if (abandoned)
        c->release(c);
}

/* ---- threads ---- */

/* [lock held] Returns false if another thread has removed it, and is about to wake it. */
static bool remove_idle(fi_blocking_pool *p, const fi_blocking_thread *me)
{
    for (fi_blocking_thread **link = &p->idle; *link; link = &(*link)->next)
        if (*link == me) {
            *link = me->next;
            return true;
        }
    return false;
}

/* The next call of the queue.  If there is none, the thread is idle from now on, or has to exit. */
static fi_blocking_call *next_call(fi_blocking_pool *p, fi_blocking_thread *me)
{
    fi_blocking_call *c;

    *me = (fi_blocking_thread){0};
    fi_lock_lock(&p->lock);
    c = pop_call(p);
    me->is_idle = !c && !p->stopping;
    if (me->is_idle) {
        me->next = p->idle;
        p->idle = me;
    }
    fi_lock_unlock(&p->lock);
    return c;
}

/* Returns the next call.  The thread becomes idle before the caller continues, because the caller's
 * next call may be for this thread. */
static fi_blocking_call *run_call(fi_blocking_pool *p, fi_blocking_thread *me, fi_blocking_call *c)
{
    fi_blocking_call *next;
    int64_t result;

    fi_trace_block(p->runtime, (uintptr_t)c->func);
    result = c->func(c->arg);
    if (p->runtime->in_fork_child)
        fi_worker_end_fork_child();
    fi_trace_block_end(p->runtime);
    next = next_call(p, me);
    complete_call(c, result, false);
    return next;
}

/* Returns NULL if the thread was idle for IDLE_NS, or has to exit. */
static fi_blocking_call *wait_for_call(fi_blocking_pool *p, fi_blocking_thread *me)
{
    bool removed;

    if (!me->is_idle)
        return NULL;
    if (fi_oneshot_announce(&me->wake))
        fi_watchdog_thread_blocks();
    if (fi_oneshot_wait_until(&me->wake, fi_clock_now() + IDLE_NS))
        return me->call;
    fi_lock_lock(&p->lock);
    removed = remove_idle(p, me);
    fi_lock_unlock(&p->lock);
    if (removed) {
        fi_watchdog_thread_unblocks();
        return NULL;
    }
    fi_oneshot_wait(&me->wake);
    return me->call;
}

/* A call may have been queued since the thread left the idle list, by a caller that counted
 * this thread and found it busy. */
static fi_blocking_call *exit_unless_called(fi_blocking_pool *p, bool *joins, pthread_t *before)
{
    fi_blocking_call *c;
    bool is_last;

    fi_lock_lock(&p->lock);
    c = pop_call(p);
    if (!c) {
        *joins = p->any_exited;
        *before = p->last_exited;
        p->any_exited = true;
        p->last_exited = pthread_self();
        p->n_threads--;
    }
    is_last = p->n_threads == 0 && p->stopping;
    fi_lock_unlock(&p->lock);
    if (!c && is_last)
        fi_oneshot_set(&p->all_exited);
    return c;
}

static void thread_exited(void)
{
    fi_fatal("pthread_exit: called in a function given to filch_run_blocking; return from the "
             "function instead");
}

/* Each thread joins the one that exited before it, so joining the last one joins all. */
static void *thread_main(void *pool)
{
    fi_blocking_pool *p = pool;
    pthread_t before;
    bool joins = false;
    fi_blocking_thread me;
    fi_blocking_call *c;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    pthread_setname_np(pthread_self(), p->thread_name);
    fi_exit_guard_set(thread_exited);
    c = next_call(p, &me);
    do {
        while (c || (c = wait_for_call(p, &me)) != NULL)
            c = run_call(p, &me, c);
        c = exit_unless_called(p, &joins, &before);
    } while (c);
    fi_exit_guard_set(NULL);
    if (joins)
        pthread_join(before, NULL);
    return NULL;
}

static void wake_thread(fi_blocking_thread *t)
{
    if (fi_oneshot_set(&t->wake))
        fi_watchdog_thread_unblocks();
}

/* If the thread cannot be started, the other threads run the queued calls.  If there are none, the
 * calls fail. */
static void start_thread(fi_blocking_pool *p)
{
    fi_blocking_call *list = NULL;
    pthread_t t;

    if (pthread_create(&t, NULL, thread_main, p) == 0)
        return;
    fi_lock_lock(&p->lock);
    if (--p->n_threads == 0) {
        list = p->first;
        p->first = NULL;
    }
    fi_lock_unlock(&p->lock);
    while (list) {
        fi_blocking_call *c = list;
        list = c->next;
        complete_call(c, 0, true);
    }
}

/* ---- callers ---- */

static void submit_call(fi_blocking_pool *p, fi_blocking_call *c)
{
    fi_blocking_thread *idle;
    bool starts;

    fi_lock_lock(&p->lock);
    idle = p->idle;
    starts = !idle && p->n_threads < p->max_threads;
    if (idle)
        p->idle = idle->next;
    else
        push_call(p, c);
    p->n_threads += starts;
    fi_lock_unlock(&p->lock);
    if (idle) {
        idle->call = c;
        wake_thread(idle);
    }
    if (starts)
        start_thread(p);
}

/* Returns 0 if the call has ended meanwhile, else e.  A call that is still queued is not run. */
static int abandon_call(fi_blocking_pool *p, fi_blocking_call *c, int e)
{
    bool done;

    if (try_remove_call(p, c)) {
        c->release(c);
        return e;
    }
    fi_obj_lock_second(&c->lock);
    done = c->done;
    c->abandoned = !done;
    fi_obj_unlock(&c->lock);
    return done ? 0 : e;
}

int fi_blocking_pool_run(fi_blocking_pool *p, fi_blocking_call *c, int64_t deadline_ns)
{
    fi_waiter w = {.uncancellable = !c->release};
    int e = 0;

    submit_call(p, c);
    fi_obj_lock_second(&c->lock);
    if (c->done)
        fi_obj_unlock(&c->lock);
    else
        e = fi_waitq_wait(&w, &c->caller, &c->lock, (fi_wait_reason){"blocking", c->arg},
                          c->release ? deadline_ns : FI_TIMER_NEVER);
    if (e < 0 && (e = abandon_call(p, c, e)) < 0)
        return e;
    return c->failed ? -EAGAIN : 0;
}

int64_t filch_run_blocking(int64_t (*call)(void *arg), void *arg)
{
    fi_wait_chaos();
    fi_runtime *rt = fi_io_fiber_runtime();
    fi_blocking_call c = {.func = call, .arg = arg};
    fi_io *io;
    int e;

    if (!call)
        return fi_message_null("filch_run_blocking", "call", "a function");
    if (!rt)
        return call(arg);
    e = fi_io_get(rt, &io);
    if (e == 0)
        e = fi_blocking_pool_run(&io->blocking_pool, &c, FI_TIMER_NEVER);
    return e < 0 ? e : c.result;
}

/* ---- start and stop ---- */

void fi_blocking_pool_init(fi_blocking_pool *p, fi_runtime *rt)
{
    p->runtime = rt;
    p->max_threads = rt->settings.blocking_threads;
    snprintf(p->thread_name, sizeof p->thread_name, "%.10s-io", rt->settings.name);
}

void fi_blocking_pool_fini(fi_blocking_pool *p)
{
    fi_blocking_thread *idle;
    bool any;

    fi_lock_lock(&p->lock);
    p->stopping = true;
    any = p->n_threads > 0;
    idle = p->idle;
    p->idle = NULL;
    fi_lock_unlock(&p->lock);
    while (idle) {
        fi_blocking_thread *t = idle;
        idle = t->next;
        wake_thread(t);
    }
    if (any)
        fi_oneshot_wait(&p->all_exited);
    if (p->any_exited)
        pthread_join(p->last_exited, NULL);
}
