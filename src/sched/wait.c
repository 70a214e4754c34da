/* Lines, and how who stands in one falls asleep and wakes. */
#include "sched/wait.h"

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

#define WITHDRAWN UINT32_MAX /* in a claim: by no part */

/* ---- lines, under their latch ---- */

FI_INLINE void add(fi_line *line, fi_biased_lock *latch, fi_wait *w)
{
    fi_wait *first = line->first;

    fi_store_relaxed(&w->line, line);
    w->latch = latch;
    if (!first) {
        line->first = w->next = w->prev = w;
        return;
    }
    w->next = first;
    w->prev = first->prev;
    w->prev->next = first->prev = w;
}

void fi_line_add(fi_line *line, fi_biased_lock *latch, fi_wait *w)
{
    add(line, latch, w);
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
    fi_store_relaxed(&w->line, NULL);
}

void fi_line_remove(fi_wait *w)
{
    take_out(fi_load_relaxed(&w->line), w);
}

/* Relaxed: what goes with it is handed over by latches and queues. */
static bool claim(fi_wait *whole, uint32_t as)
{
    uint32_t none = 0;

    return fi_cas_relaxed(&whole->claim, &none, as);
}

fi_wait *fi_line_take_of_many(fi_line *line)
{
    fi_wait *w;

    while ((w = line->first) != NULL) {
        take_out(line, w);
        if (!w->whole)
            return w;
        if (claim(w->whole, w->part)) {
            if (w->twin && fi_load_relaxed(&w->twin->line))
                fi_line_remove(w->twin);
            return w;
        }
    }
    return NULL;
}

/* ---- ending ---- */

void fi_wait_end(fi_wait *w)
{
    if (w->whole)
        w = w->whole;
    if (FI_LIKELY(w->fiber)) {
        fi_ready(w->fiber);
        return;
    }
    if (w->counted)
        fi_watchdog_thread_unblocks();
    fi_oneshot_set(&w->gate);
}

/* [latch held] Not because somebody took it out. */
static void leave(fi_wait *w)
{
    fi_line_remove(w);
    if (w->left)
        w->left(w);
}

static bool leave_line_of_any(fi_wait *w)
{
    bool stood;

    fi_hold(w->latch);
    stood = fi_load_relaxed(&w->line) != NULL;
    if (stood)
        leave(w);
    fi_let_go(w->latch);
    return stood;
}

/* A deadline or a cancellation may come after the wait was removed and its channel was freed.  So
 * it checks the wait first, under a guard that the freeing party takes as well.  The guard is taken
 * before the latch. */
#define GUARDS_LOG 6

typedef struct guard {
    FI_CACHE_ALIGNED fi_biased_lock latch;
} guard;

static guard guards[1 << GUARDS_LOG];

static fi_biased_lock *guard_of(const fi_biased_lock *latch)
{
    return &guards[((uintptr_t)latch >> 6) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - GUARDS_LOG)]
                .latch;
}

static bool leave_line(fi_wait *w)
{
    fi_biased_lock *g = guard_of(w->latch);
    bool stood;

    if (!w->freeable)
        return leave_line_of_any(w);
    fi_hold_also(g);
    stood = fi_load_relaxed(&w->line) && leave_line_of_any(w);
    fi_let_go(g);
    return stood;
}

void fi_wait_before_free(const fi_biased_lock *latch)
{
    fi_biased_lock *g = guard_of(latch);

    fi_hold_also(g);
    fi_let_go(g);
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

/* The fiber will run soon, and has been away for long: what it goes on with, and its frames around the wait. */
static void fetch(const fi_wait *w)
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

static void expire(fi_timer *t)
{
    fi_wait *w = (fi_wait *)(void *)((char *)t - offsetof(fi_wait, timer));

    fetch(w);
    end_early(w, -ETIMEDOUT);
}

/* ---- who looks at what a fiber waits for ---- */

void fi_wait_pin(fi_fiber *f)
{
    fi_fiber_pin(f);
}

void fi_wait_unpin(fi_fiber *f)
{
    fi_fiber_unpin(f);
}

void fi_wait_cancel(fi_fiber *f)
{
    fi_wait *w;

    fi_store_relaxed(&f->cancelled, 1u);
    w = fi_fiber_pinned_wait(f);
    if (w && !w->stubborn)
        end_early(w, -ECANCELED);
}

bool fi_wait_look(fi_fiber *f, fi_wait_for *what)
{
    fi_wait *w;

    fi_fiber_pin(f);
    w = fi_fiber_pinned_wait(f);
    if (w)
        *what = w->what;
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

fi_worker *fi_wait_freeze(fi_runtime *rt, fi_fiber *f, const fi_wait **waiting)
{
    *waiting = fi_fiber_freeze(f);
    return runner_of(rt, f);
}

void fi_wait_thaw(fi_fiber *f)
{
    fi_fiber_thaw(f);
}

bool fi_wait_is_over(const fi_wait *w)
{
    return w->withdraw == claim_whole ? fi_load_relaxed(&w->claim) != 0
                                      : fi_load_relaxed(&w->line) == NULL;
}

void fi_wait_leave_alone(fi_fiber *f)
{
    fi_fiber_await_unpinned(f);
}

/* ---- waiting ---- */

/* How what guards the lines is let go: one latch, or in parts. */
typedef struct letting_go {
    fi_biased_lock *latch;
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

static bool commit_parts(fi_fiber *f, void *arg)
{
    (void)f;
    let_go(*(letting_go *)arg);
    return true;
}

FI_INLINE void park(fi_fiber *f, fi_worker *on, letting_go l)
{
    if (l.call)
        fi_fiber_park_on(f, commit_parts, &l);
    else
        fi_fiber_park_holding(f, on, l.latch);
}

/* [latches held] Nobody shall wake us. */
static int step_back(fi_wait *w, letting_go l, int error)
{
    if (fi_load_relaxed(&w->line))
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
    first = fi_timer_heap_add(&rt->timers, &w->timer);
    if (first < 0) {
        w->result = step_back(w, l, first);
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
        fi_fatal("a wait, in the child of a fork, for what other threads were doing");
    fi_watchdog_start(rt);
}

FI_INLINE fi_fiber *become_waiting(fi_wait *w, fi_worker *on)
{
    fi_runtime *rt = on->runtime;

    if (FI_UNLIKELY(!fi_load_relaxed(&rt->watchdog.started)))
        begin_watching(rt);
    w->fiber = fi_fiber_of_bounds(fi_load_relaxed(&on->current));
    w->since_ns = fi_load_relaxed(&rt->coarse_now_ns);
    return w->fiber;
}

/* Who does not care goes on asking, and others are to come to run. */
static __attribute__((noinline)) int refuse(fi_wait *w, letting_go l)
{
    fi_fiber *f = w->fiber;

    step_back(w, l, 0);
    fi_fiber_end_wait(f);
    fi_wait_yield();
    return -ECANCELED;
}

FI_INLINE int end_waiting(const fi_wait *w, fi_fiber *f)
{
    fi_fiber_end_wait(f);
    fi_wait_chaos();
    return w->result;
}

FI_INLINE int wait_as_fiber(fi_wait *w, fi_worker *on, letting_go l, int64_t deadline_ns)
{
    fi_fiber *f = become_waiting(w, on);

    if (FI_UNLIKELY(fi_fiber_begin_wait(f, w)) && !w->stubborn)
        return refuse(w, l);
    if (deadline_ns == FI_TIMER_NEVER)
        park(f, on, l);
    else
        park_until(w, l, deadline_ns);
    return end_waiting(w, f);
}

static int wait_as_thread(fi_wait *w, letting_go l, int64_t deadline_ns)
{
    w->fiber = NULL;
    fi_atomic_init(&w->gate, FI_ONESHOT_UNSET);
    w->counted = deadline_ns == FI_TIMER_NEVER;
    if (w->counted)
        fi_watchdog_thread_blocks();
    let_go(l);
    if (!fi_oneshot_wait_until(&w->gate, deadline_ns)) {
        if (w->withdraw(w))
            return -ETIMEDOUT;
        fi_oneshot_wait(&w->gate); /* somebody is about to open it */
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

/* The one in line lets the latch of that go once this is off its stack; without one the worker looks for another. */
FI_INLINE void yield_as_fiber(fi_worker *on)
{
    fi_fiber *f = fi_fiber_of_bounds(fi_load_relaxed(&on->current));
    fi_fiber *to = fi_switch_pick_for_yield(on, f);

    if (FI_LIKELY(to)) {
        on->after_switch.unlock = &on->ready.latch;
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
static __attribute__((noinline)) int wait(fi_wait *w, letting_go l, int64_t deadline_ns)
{
    fi_worker *on = fi_worker_self();

    if (deadline_ns != FI_TIMER_NEVER && deadline_ns <= fi_clock_now()) {
        step_back(w, l, 0);
        fi_wait_yield();
        return -ETIMEDOUT;
    }
    return on ? wait_as_fiber(w, on, l, deadline_ns) : wait_as_thread(w, l, deadline_ns);
}

/* A fiber without a deadline goes the short way. */
FI_INLINE int wait_at(fi_wait *w, fi_biased_lock *latch, int64_t deadline_ns)
{
    fi_worker *on = fi_worker_self();

    if (FI_UNLIKELY(!on || deadline_ns != FI_TIMER_NEVER))
        return wait(w, (letting_go){.latch = latch}, deadline_ns);
    return wait_as_fiber(w, on, (letting_go){.latch = latch}, FI_TIMER_NEVER);
}

int fi_wait_in(fi_wait *w, fi_line *line, fi_biased_lock *latch, fi_wait_for what,
               int64_t deadline_ns)
{
    w->what = what;
    w->withdraw = leave_line;
    add(line, latch, w);
    return wait_at(w, latch, deadline_ns);
}

int fi_wait_in_first(fi_wait *w, fi_line *line, fi_biased_lock *latch, fi_wait_for what,
                     int64_t deadline_ns)
{
    w->what = what;
    w->withdraw = leave_line;
    add(line, latch, w);
    line->first = w; /* in a circle, the last stands before the first */
    return wait_at(w, latch, deadline_ns);
}

int fi_wait_in_then(fi_wait *w, fi_line *line, fi_biased_lock *latch, fi_wait_for what,
                    int64_t deadline_ns, void (*then)(void *arg), void *arg)
{
    w->what = what;
    w->withdraw = leave_line;
    add(line, latch, w);
    return wait(w, (letting_go){latch, then, arg}, deadline_ns);
}

int fi_wait_in_parts(fi_wait *whole, fi_biased_lock *own, fi_wait_for what, void (*call)(void *arg),
                     void *arg, int64_t deadline_ns)
{
    uint32_t part;
    int e;

    whole->what = what;
    whole->withdraw = claim_whole;
    fi_store_relaxed(&whole->line, NULL);
    fi_atomic_init(&whole->claim, 0);
    whole->latch = own;
    fi_hold_also(own);
    e = wait(whole, (letting_go){own, call, arg}, deadline_ns);
    part = fi_load_relaxed(&whole->claim);
    return part == WITHDRAWN ? e : (int)part;
}
