#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pthread_setname_np */
#endif
#include "io/spares.h"

#include "base/clock.h"
#include "base/exit_guard.h"
#include "base/fatal.h"
#include "base/oneshot.h"
#include "sched/switch.h"
#include "sched/tracepoint.h"
#include "sched/watchdog.h"

#include <errno.h>
#include <stdio.h>

#define IDLE_NS INT64_C(5000000000)

/* A thread that has nothing to do, on its stack. */
struct fi_spare {
    FI_ATOMIC(uint32_t) gate;
    fi_spare_call *call; /* set by who opens the gate; NULL: it is to end */
    fi_spare *next;
    bool is_idle;
};

/* ---- the threads ---- */

/* The fiber may be gone with the call as soon as the latch is let go, or it is woken; unless it has left. */
static void finish(fi_spare_call *c, int64_t result, bool failed)
{
    fi_wait *w;
    bool left;

    fi_hold_also(&c->latch);
    c->result = result;
    c->failed = failed;
    c->done = true;
    left = c->left;
    w = fi_line_take(&c->caller);
    fi_let_go(&c->latch);
    if (w)
        fi_wait_end(w);
    if (left)
        c->forget(c);
}

/* [lock held] */
static fi_spare_call *take_call(fi_spares *s)
{
    fi_spare_call *c = s->first;

    if (c)
        s->first = c->next;
    return c;
}

/* [lock held] */
static bool leave_idle(fi_spares *s, const fi_spare *me)
{
    for (fi_spare **link = &s->idle; *link; link = &(*link)->next)
        if (*link == me) {
            *link = me->next;
            return true;
        }
    return false;
}

/* The next in line; NULL: it is idle from now on, or to end. */
static fi_spare_call *look_for_call(fi_spares *s, fi_spare *me)
{
    fi_spare_call *c;

    *me = (fi_spare){0};
    fi_lock_lock(&s->lock);
    c = take_call(s);
    me->is_idle = !c && !s->stopping;
    if (me->is_idle) {
        me->next = s->idle;
        s->idle = me;
    }
    fi_lock_unlock(&s->lock);
    return c;
}

/* It is idle before its caller goes on, who may have the next call for it. */
static fi_spare_call *run(fi_spares *s, fi_spare *me, fi_spare_call *c)
{
    fi_spare_call *next;
    int64_t result;

    fi_trace_block(s->runtime, (uintptr_t)c->call);
    result = c->call(c->arg);
    if (s->runtime->in_fork_child)
        fi_worker_end_fork_child();
    fi_trace_block_end(s->runtime);
    next = look_for_call(s, me);
    finish(c, result, false);
    return next;
}

/* NULL: there was nothing to do for long, or it is to end. */
static fi_spare_call *wait_idle(fi_spares *s, fi_spare *me)
{
    bool mine;

    if (!me->is_idle)
        return NULL;
    if (fi_oneshot_announce(&me->gate))
        fi_watchdog_thread_blocks();
    if (fi_oneshot_wait_until(&me->gate, fi_clock_now() + IDLE_NS))
        return me->call;
    fi_lock_lock(&s->lock);
    mine = leave_idle(s, me);
    fi_lock_unlock(&s->lock);
    if (mine) {
        fi_watchdog_thread_unblocks();
        return NULL;
    }
    fi_oneshot_wait(&me->gate); /* somebody is about to open it */
    return me->call;
}

/* A call that has come since the last look stands in line: whoever brought it saw that we are counted, and not idle. */
static fi_spare_call *end_unless_called(fi_spares *s, bool *joins, pthread_t *before)
{
    fi_spare_call *c;
    bool last;

    fi_lock_lock(&s->lock);
    c = take_call(s);
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
static void *be_spare(void *spares)
{
    fi_spares *s = spares;
    pthread_t before;
    bool joins = false;
    fi_spare me;
    fi_spare_call *c;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    pthread_setname_np(pthread_self(), s->name);
    fi_exit_guard_set(thread_ended);
    c = look_for_call(s, &me);
    do {
        while (c || (c = wait_idle(s, &me)) != NULL)
            c = run(s, &me, c);
        c = end_unless_called(s, &joins, &before);
    } while (c);
    fi_exit_guard_set(NULL);
    if (joins)
        pthread_join(before, NULL);
    return NULL;
}

/* ---- who calls ---- */

void fi_spares_init(fi_spares *s, fi_runtime *rt)
{
    s->runtime = rt;
    s->most = rt->settings.blocking_threads;
    snprintf(s->name, sizeof s->name, "%.10s-io", rt->settings.name);
}

/* [lock held] The thread finds it in line. */
static void stand_in_line(fi_spares *s, fi_spare_call *c)
{
    c->next = NULL;
    if (s->first)
        s->last->next = c;
    else
        s->first = c;
    s->last = c;
}

/* Without a new thread one of the others has to do it; without others nobody can. */
static void start_thread(fi_spares *s)
{
    fi_spare_call *list = NULL;
    pthread_t t;

    if (pthread_create(&t, NULL, be_spare, s) == 0)
        return;
    fi_lock_lock(&s->lock);
    if (--s->n == 0) {
        list = s->first;
        s->first = NULL;
    }
    fi_lock_unlock(&s->lock);
    while (list) {
        fi_spare_call *c = list;
        list = c->next;
        finish(c, 0, true);
    }
}

static void open_gate(fi_spare *idle)
{
    if (fi_oneshot_set(&idle->gate))
        fi_watchdog_thread_unblocks();
}

static void give(fi_spares *s, fi_spare_call *c)
{
    fi_spare *idle;
    bool more;

    fi_lock_lock(&s->lock);
    idle = s->idle;
    more = !idle && s->n < s->most;
    if (idle)
        s->idle = idle->next;
    else
        stand_in_line(s, c);
    s->n += more;
    fi_lock_unlock(&s->lock);
    if (idle) {
        idle->call = c;
        open_gate(idle);
    }
    if (more)
        start_thread(s);
}

/* If it still stands in line, nobody else knows of it. */
static bool take_back(fi_spares *s, fi_spare_call *c)
{
    fi_spare_call *before = NULL, *at;

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
static int leave(fi_spares *s, fi_spare_call *c, int e)
{
    bool done;

    if (take_back(s, c)) {
        c->forget(c);
        return e;
    }
    fi_hold_also(&c->latch);
    done = c->done;
    c->left = !done;
    fi_let_go(&c->latch);
    return done ? 0 : e;
}

int fi_spares_run_until(fi_spares *s, fi_spare_call *c, int64_t deadline_ns)
{
    fi_wait w = {.stubborn = !c->forget};
    int e = 0;

    give(s, c);
    fi_hold_also(&c->latch);
    if (c->done)
        fi_let_go(&c->latch);
    else
        e = fi_wait_in(&w, &c->caller, &c->latch, (fi_wait_for){"blocking", c->arg}, deadline_ns);
    if (e < 0 && (e = leave(s, c, e)) < 0)
        return e;
    return c->failed ? -EAGAIN : 0;
}

int fi_spares_run(fi_spares *s, int64_t (*call)(void *arg), void *arg, int64_t *result)
{
    fi_spare_call c = {.call = call, .arg = arg};
    int e = fi_spares_run_until(s, &c, FI_TIMER_NEVER);

    *result = c.result;
    return e;
}

/* ---- the end ---- */

static fi_spare *stop(fi_spares *s, bool *any)
{
    fi_spare *idle;

    fi_lock_lock(&s->lock);
    s->stopping = true;
    *any = s->n > 0;
    idle = s->idle;
    s->idle = NULL;
    fi_lock_unlock(&s->lock);
    return idle;
}

void fi_spares_fini(fi_spares *s)
{
    bool any;
    fi_spare *idle = stop(s, &any);

    while (idle) {
        fi_spare *one = idle;
        idle = one->next;
        open_gate(one);
    }
    if (any)
        fi_oneshot_wait(&s->all_ended);
    if (s->any_ended)
        pthread_join(s->ended, NULL);
}
