/* Lines, and how who stands in one falls asleep and wakes. */
#include "sched/wait.h"

#include "base/chaos.h"
#include "base/clock.h"
#include "base/mistake.h"
#include "sched/gate.h"
#include "sched/pin.h"
#include "sched/run.h"
#include "sched/watch.h"

#include <errno.h>
#include <stddef.h>

#define WITHDRAWN UINT32_MAX /* in a claim: by no part */

__attribute__((noinline)) uint32_t fi_party_by_call(void)
{
    uint32_t who = fi_party_here;

    __asm__ volatile("" : "+r"(who)::"memory");
    return who;
}

/* ---- lines, under their latch ---- */

void fi_line_add(fi_line *line, fi_latch *latch, fi_wait *w)
{
    fi_wait *first = line->first;

    w->line = line;
    w->latch = latch;
    if (!first) {
        line->first = w->next = w->prev = w;
        return;
    }
    w->next = first;
    w->prev = first->prev;
    w->prev->next = first->prev = w;
}

static void take_out(fi_line *line, fi_wait *w)
{
    if (w->next == w) {
        line->first = NULL;
    } else {
        w->next->prev = w->prev;
        w->prev->next = w->next;
        if (line->first == w)
            line->first = w->next;
    }
    w->line = NULL;
}

void fi_line_remove(fi_wait *w)
{
    take_out(w->line, w);
}

/* Relaxed: what goes with it is handed over by latches and queues. */
static bool claim(fi_wait *whole, uint32_t as)
{
    uint32_t none = 0;

    return fi_cas_relaxed(&whole->claim, &none, as);
}

fi_wait *fi_line_take(fi_line *line)
{
    fi_wait *w;

    while ((w = line->first) != NULL) {
        take_out(line, w);
        if (!w->whole || claim(w->whole, w->part))
            return w;
    }
    return NULL;
}

/* ---- ending ---- */

void fi_wait_end(fi_wait *w)
{
    if (w->whole)
        w = w->whole;
    if (w->fiber) {
        fi_ready(w->fiber->worker->runtime, w->fiber);
        return;
    }
    if (w->counted)
        fi_watch_thread_goes_on();
    fi_gate_open(&w->gate);
}

/* [latch held] Not because somebody took it out. */
static void leave(fi_wait *w)
{
    fi_line_remove(w);
    if (w->left)
        w->left(w);
}

static bool leave_line(fi_wait *w)
{
    bool stood;

    fi_hold(w->latch);
    stood = w->line != NULL;
    if (stood)
        leave(w);
    fi_let_go(w->latch);
    return stood;
}

/* Under its latch, as its fiber lets that go only after it has left its stack. */
static bool claim_whole(fi_wait *w)
{
    bool first;

    fi_hold_also(w->latch);
    first = claim(w, WITHDRAWN);
    fi_let_go(w->latch);
    return first;
}

static void end_early(fi_wait *w, int error)
{
    if (w->withdraw(w)) {
        w->result = error;
        fi_wait_end(w);
    }
}

static void expire(fi_timer *t)
{
    end_early((fi_wait *)(void *)((char *)t - offsetof(fi_wait, timer)), -ETIMEDOUT);
}

/* ---- who looks at what a fiber waits for ---- */

void fi_wait_pin(fi_fiber *f)
{
    fi_pin_set(f);
}

void fi_wait_cancel(fi_fiber *f)
{
    fi_wait *w;

    fi_store_relaxed(&f->cancelled, 1u);
    w = fi_pin_look(f);
    if (w && w->what.cancellable)
        end_early(w, -ECANCELED);
    fi_pin_undo(f);
}

bool fi_wait_look(fi_fiber *f, fi_wait_for *what)
{
    fi_wait *w;

    fi_pin_set(f);
    w = fi_pin_look(f);
    if (w)
        *what = w->what;
    fi_pin_undo(f);
    return w != NULL;
}

static fi_worker *runner_of(fi_runtime *rt, fi_fiber *f)
{
    for (unsigned i = 0; i < rt->workers_n; i++)
        if (fi_pin_is_on(f, &rt->workers[i].current, &rt->workers[i].leaving))
            return &rt->workers[i];
    return NULL;
}

fi_worker *fi_wait_freeze(fi_runtime *rt, fi_fiber *f, const fi_wait **waiting)
{
    *waiting = fi_pin_freeze(f);
    return runner_of(rt, f);
}

void fi_wait_thaw(fi_fiber *f)
{
    fi_pin_thaw(f);
}

void fi_wait_leave_alone(fi_fiber *f)
{
    fi_pin_await_none(f);
}

/* ---- waiting ---- */

/* How what guards the lines is let go: one latch, or in parts. */
typedef struct letting_go {
    fi_latch *latch;
    void (*call)(void *arg);
    void *arg;
} letting_go;

/* Of a whole the last of the parts' latches goes last: the fiber takes all of them once more before it goes on, so
 * until then its stack is there. */
static void let_go(letting_go l)
{
    fi_let_go(l.latch);
    if (l.call)
        l.call(l.arg);
}

static bool commit_latch(fi_fiber *f, void *latch)
{
    (void)f;
    fi_let_go(latch);
    return true;
}

static bool commit_parts(fi_fiber *f, void *arg)
{
    (void)f;
    let_go(*(letting_go *)arg);
    return true;
}

FI_INLINE void park(fi_fiber *f, letting_go l)
{
    if (l.call)
        fi_fiber_park_on(f, commit_parts, &l);
    else
        fi_fiber_park_on(f, commit_latch, l.latch);
}

/* [latches held] Nobody shall wake us. */
static int step_back(fi_wait *w, letting_go l, int error)
{
    if (w->line)
        leave(w);
    else
        claim(w, WITHDRAWN);
    let_go(l);
    return error;
}

FI_INLINE void park_until(fi_wait *w, letting_go l, int64_t deadline_ns)
{
    fi_runtime *rt = w->fiber->worker->runtime;

    int first;

    w->timer = (fi_timer){.deadline_ns = deadline_ns, .fire = expire};
    first = fi_timers_add(&rt->timers, &w->timer);
    if (first < 0) {
        w->result = step_back(w, l, first);
        return;
    }
    if (first > 0)
        fi_idle_notify(&rt->idle);
    park(w->fiber, l);
    fi_timers_remove(&rt->timers, &w->timer);
}

FI_INLINE int wait_as_fiber(fi_wait *w, fi_worker *on, letting_go l, int64_t deadline_ns)
{
    fi_fiber *f = fi_fiber_of_fork(fi_load_relaxed(&on->current));
    bool cancelled;

    if (on->runtime->orphaned)
        fi_mistake("a wait, in the child of a fork, for what other threads were doing");
    if (!fi_load_relaxed(&on->runtime->watch.begun))
        fi_watch_start(on->runtime);
    w->fiber = f;
    w->since_ns = fi_load_relaxed(&on->runtime->coarse_ns);
    cancelled = fi_pin_begin(f, w) && w->what.cancellable;
    if (cancelled)
        w->result = step_back(w, l, -ECANCELED);
    else if (deadline_ns == FI_TIMER_NEVER)
        park(f, l);
    else
        park_until(w, l, deadline_ns);
    fi_pin_end(f);
    if (cancelled)
        fi_wait_yield();
    fi_wait_chaos();
    return w->result;
}

static int wait_as_thread(fi_wait *w, letting_go l, int64_t deadline_ns)
{
    w->counted = deadline_ns == FI_TIMER_NEVER;
    if (w->counted)
        fi_watch_thread_waits();
    let_go(l);
    if (!fi_gate_wait_until(&w->gate, deadline_ns)) {
        if (w->withdraw(w))
            return -ETIMEDOUT;
        fi_gate_wait(&w->gate); /* somebody is about to open it */
    }
    return w->result;
}

/* Whoever made the others ready has woken somebody for them. */
static bool commit_yield(fi_fiber *f, void *arg)
{
    fi_worker *w = arg;

    fi_line_up(w, &f->ready);
    w->new_first = true;
    return true;
}

void fi_wait_yield(void)
{
    fi_worker *on = fi_worker_self();

    if (!on)
        fi_yield();
    else if (!on->runtime->orphaned)
        fi_fiber_park_on(fi_fiber_of_fork(fi_load_relaxed(&on->current)), commit_yield, on);
}

#ifdef FILCH_CHAOS
void fi_wait_chaos(void)
{
    const fi_worker *on = fi_worker_self();

    if (on && (!fi_load_relaxed(&on->current) || on->is_committing))
        return; /* it cannot park here */
    if (fi_chaos(4))
        fi_wait_yield();
}
#endif

/* Who asks again and again with a deadline that is over, or cancelled, must still let others run, or it asks for ever. */
FI_INLINE int wait(fi_wait *w, letting_go l, int64_t deadline_ns)
{
    fi_worker *on = fi_worker_self();

    if (deadline_ns != FI_TIMER_NEVER && deadline_ns <= fi_clock_now()) {
        step_back(w, l, 0);
        fi_wait_yield();
        return -ETIMEDOUT;
    }
    return on ? wait_as_fiber(w, on, l, deadline_ns) : wait_as_thread(w, l, deadline_ns);
}

int fi_wait_in(fi_wait *w, fi_line *line, fi_latch *latch, fi_wait_for what, int64_t deadline_ns)
{
    return fi_wait_in_then(w, line, latch, what, deadline_ns, NULL, NULL);
}

int fi_wait_in_first(fi_wait *w, fi_line *line, fi_latch *latch, fi_wait_for what,
                     int64_t deadline_ns)
{
    w->what = what;
    w->withdraw = leave_line;
    fi_line_add(line, latch, w);
    line->first = w; /* in a circle, the last stands before the first */
    return wait(w, (letting_go){.latch = latch}, deadline_ns);
}

int fi_wait_in_then(fi_wait *w, fi_line *line, fi_latch *latch, fi_wait_for what,
                    int64_t deadline_ns, void (*then)(void *arg), void *arg)
{
    w->what = what;
    w->withdraw = leave_line;
    fi_line_add(line, latch, w);
    return wait(w, (letting_go){latch, then, arg}, deadline_ns);
}

int fi_wait_in_parts(fi_wait *whole, fi_latch *own, fi_wait_for what, void (*call)(void *arg),
                     void *arg, int64_t deadline_ns)
{
    uint32_t part;
    int e;

    whole->what = what;
    whole->withdraw = claim_whole;
    whole->latch = own;
    fi_hold_also(own);
    e = wait(whole, (letting_go){own, call, arg}, deadline_ns);
    part = fi_load_relaxed(&whole->claim);
    return part == WITHDRAWN ? e : (int)part;
}
