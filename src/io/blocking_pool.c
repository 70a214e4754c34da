#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pthread_setname_np */
#endif
#include "io/blocking_pool.h"

#include "base/clock.h"
#include "base/exit_guard.h"
#include "base/fatal.h"
#include "base/oneshot.h"
#include "io/io.h"
#include "sched/switch.h"
#include "sched/tracepoint.h"
#include "sched/watchdog.h"

#include <filch/io.h>

#include <errno.h>
#include <stdio.h>

#define IDLE_NS INT64_C(5000000000)

/* A thread that has nothing to do, on its stack. */
struct fi_blocking_thread {
    FI_ATOMIC(uint32_t) gate;
    fi_blocking_call *call; /* set by who opens the gate; NULL: it is to end */
    fi_blocking_thread *next;
    bool is_idle;
};

/* ---- the threads ---- */

/* The fiber may be gone with the call as soon as the latch is let go, or it is woken; unless it has abandoned. */
static void call_complete(fi_blocking_call *c, int64_t result, bool failed)
{
    fi_wait *w;
    bool abandoned;

    fi_hold_also(&c->latch);
    c->result = result;
    c->failed = failed;
    c->done = true;
    abandoned = c->abandoned;
    w = fi_line_take(&c->caller);
    fi_let_go(&c->latch);
    if (w)
        fi_wait_end(w);
    if (abandoned)
        c->release(c);
}

/* [lock held] */
static fi_blocking_call *pop_call(fi_blocking_pool *s)
{
    fi_blocking_call *c = s->first;

    if (c)
        s->first = c->next;
    return c;
}

/* [lock held] */
static bool remove_idle(fi_blocking_pool *s, const fi_blocking_thread *me)
{
    for (fi_blocking_thread **link = &s->idle; *link; link = &(*link)->next)
        if (*link == me) {
            *link = me->next;
            return true;
        }
    return false;
}

/* The next in line; NULL: it is idle from now on, or to end. */
static fi_blocking_call *next_call(fi_blocking_pool *s, fi_blocking_thread *me)
{
    fi_blocking_call *c;

    *me = (fi_blocking_thread){0};
    fi_lock_lock(&s->lock);
    c = pop_call(s);
    me->is_idle = !c && !s->stopping;
    if (me->is_idle) {
        me->next = s->idle;
        s->idle = me;
    }
    fi_lock_unlock(&s->lock);
    return c;
}

/* It is idle before its caller goes on, who may have the next call for it. */
static fi_blocking_call *run_call(fi_blocking_pool *s, fi_blocking_thread *me, fi_blocking_call *c)
{
    fi_blocking_call *next;
    int64_t result;

    fi_trace_block(s->runtime, (uintptr_t)c->call);
    result = c->call(c->arg);
    if (s->runtime->in_fork_child)
        fi_worker_end_fork_child();
    fi_trace_block_end(s->runtime);
    next = next_call(s, me);
    call_complete(c, result, false);
    return next;
}

/* NULL: there was nothing to do for long, or it is to end. */
static fi_blocking_call *wait_for_call(fi_blocking_pool *s, fi_blocking_thread *me)
{
    bool mine;

    if (!me->is_idle)
        return NULL;
    if (fi_oneshot_announce(&me->gate))
        fi_watchdog_thread_blocks();
    if (fi_oneshot_wait_until(&me->gate, fi_clock_now() + IDLE_NS))
        return me->call;
    fi_lock_lock(&s->lock);
    mine = remove_idle(s, me);
    fi_lock_unlock(&s->lock);
    if (mine) {
        fi_watchdog_thread_unblocks();
        return NULL;
    }
    fi_oneshot_wait(&me->gate); /* somebody is about to open it */
    return me->call;
}

/* A call that has come since the last look stands in line: whoever brought it saw that we are counted, and not idle. */
static fi_blocking_call *exit_unless_called(fi_blocking_pool *s, bool *joins, pthread_t *before)
{
    fi_blocking_call *c;
    bool last;

    fi_lock_lock(&s->lock);
    c = pop_call(s);
    if (!c) {
        *joins = s->any_ended;
        *before = s->ended;
        s->any_ended = true;
        s->ended = pthread_self();
        s->n--;
    }
    last = s->n == 0 && s->stopping;
    fi_lock_unlock(&s->lock);
    if (!c && last)
        fi_oneshot_set(&s->all_ended);
    return c;
}

static void thread_ended(void)
{
    fi_fatal(
        "pthread_exit: a function that was given to filch_run_blocking ended its thread; return "
        "from it instead");
}

/* Each that ends waits for the one before, so that who waits for the last has waited for all. */
static void *thread_main(void *blocking_pool)
{
    fi_blocking_pool *s = blocking_pool;
    pthread_t before;
    bool joins = false;
    fi_blocking_thread me;
    fi_blocking_call *c;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    pthread_setname_np(pthread_self(), s->name);
    fi_exit_guard_set(thread_ended);
    c = next_call(s, &me);
    do {
        while (c || (c = wait_for_call(s, &me)) != NULL)
            c = run_call(s, &me, c);
        c = exit_unless_called(s, &joins, &before);
    } while (c);
    fi_exit_guard_set(NULL);
    if (joins)
        pthread_join(before, NULL);
    return NULL;
}

/* ---- who calls ---- */

void fi_blocking_pool_init(fi_blocking_pool *s, fi_runtime *rt)
{
    s->runtime = rt;
    s->max = rt->settings.blocking_threads;
    snprintf(s->name, sizeof s->name, "%.10s-io", rt->settings.name);
}

/* [lock held] The thread finds it in line. */
static void push_call(fi_blocking_pool *s, fi_blocking_call *c)
{
    c->next = NULL;
    if (s->first)
        s->last->next = c;
    else
        s->first = c;
    s->last = c;
}

/* Without a new thread one of the others has to do it; without others nobody can. */
static void start_thread(fi_blocking_pool *s)
{
    fi_blocking_call *list = NULL;
    pthread_t t;

    if (pthread_create(&t, NULL, thread_main, s) == 0)
        return;
    fi_lock_lock(&s->lock);
    if (--s->n == 0) {
        list = s->first;
        s->first = NULL;
    }
    fi_lock_unlock(&s->lock);
    while (list) {
        fi_blocking_call *c = list;
        list = c->next;
        call_complete(c, 0, true);
    }
}

static void wake_thread(fi_blocking_thread *idle)
{
    if (fi_oneshot_set(&idle->gate))
        fi_watchdog_thread_unblocks();
}

static void submit_call(fi_blocking_pool *s, fi_blocking_call *c)
{
    fi_blocking_thread *idle;
    bool more;

    fi_lock_lock(&s->lock);
    idle = s->idle;
    more = !idle && s->n < s->max;
    if (idle)
        s->idle = idle->next;
    else
        push_call(s, c);
    s->n += more;
    fi_lock_unlock(&s->lock);
    if (idle) {
        idle->call = c;
        wake_thread(idle);
    }
    if (more)
        start_thread(s);
}

/* If it still stands in line, nobody else knows of it. */
static bool try_remove_call(fi_blocking_pool *s, fi_blocking_call *c)
{
    fi_blocking_call *before = NULL, *at;

    fi_lock_lock(&s->lock);
    for (at = s->first; at && at != c; at = at->next)
        before = at;
    if (at && before)
        before->next = c->next;
    else if (at)
        s->first = c->next;
    if (at && s->last == c)
        s->last = before;
    fi_lock_unlock(&s->lock);
    return at != NULL;
}

/* 0: it was done meanwhile.  No name is looked up for nobody. */
static int abandon_call(fi_blocking_pool *s, fi_blocking_call *c, int e)
{
    bool done;

    if (try_remove_call(s, c)) {
        c->release(c);
        return e;
    }
    fi_hold_also(&c->latch);
    done = c->done;
    c->abandoned = !done;
    fi_let_go(&c->latch);
    return done ? 0 : e;
}

int fi_blocking_pool_run_until(fi_blocking_pool *s, fi_blocking_call *c, int64_t deadline_ns)
{
    fi_wait w = {.stubborn = !c->release};
    int e = 0;

    submit_call(s, c);
    fi_hold_also(&c->latch);
    if (c->done)
        fi_let_go(&c->latch);
    else
        e = fi_wait_in(&w, &c->caller, &c->latch, (fi_wait_for){"blocking", c->arg}, deadline_ns);
    if (e < 0 && (e = abandon_call(s, c, e)) < 0)
        return e;
    return c->failed ? -EAGAIN : 0;
}

int fi_blocking_pool_run(fi_blocking_pool *s, int64_t (*call)(void *arg), void *arg,
                         int64_t *result)
{
    fi_blocking_call c = {.call = call, .arg = arg};
    int e = fi_blocking_pool_run_until(s, &c, FI_TIMER_NEVER);

    *result = c.result;
    return e;
}

int64_t filch_run_blocking(int64_t (*call)(void *arg), void *arg)
{
    fi_wait_chaos();
    fi_runtime *rt = fi_io_fiber_runtime();
    int64_t result = 0;
    fi_io *io;
    int e;

    if (!rt)
        return call(arg);
    e = fi_io_get(rt, &io);
    if (e == 0)
        e = fi_blocking_pool_run(&io->blocking_pool, call, arg, &result);
    return e < 0 ? e : result;
}

/* ---- the end ---- */

static fi_blocking_thread *pool_stop(fi_blocking_pool *s, bool *any)
{
    fi_blocking_thread *idle;

    fi_lock_lock(&s->lock);
    s->stopping = true;
    *any = s->n > 0;
    idle = s->idle;
    s->idle = NULL;
    fi_lock_unlock(&s->lock);
    return idle;
}

void fi_blocking_pool_fini(fi_blocking_pool *s)
{
    bool any;
    fi_blocking_thread *idle = pool_stop(s, &any);

    while (idle) {
        fi_blocking_thread *one = idle;
        idle = one->next;
        wake_thread(one);
    }
    if (any)
        fi_oneshot_wait(&s->all_ended);
    if (s->any_ended)
        pthread_join(s->ended, NULL);
}
