/* Lines of waiters, in a table by their address.  Two addresses may share a line: who wakes looks for its own. */
#include "sched/lot.h"

#include "base/cache.h"
#include "base/clock.h"
#include "base/mistake.h"
#include "sched/gate.h"
#include "sched/worker.h"

#include <errno.h>
#include <stddef.h>

#define LINES_LOG 8

typedef struct waiter {
    const void *address;
    bool (*still)(void *arg);
    void *arg;
    fi_fiber *fiber; /* NULL: a thread, which waits at the gate */
    fi_runtime *runtime;
    FI_ATOMIC(uint32_t) gate;
    fi_timer timer; /* of a fiber with a deadline */
    /* The rest under the lock of the line. */
    enum { COMES, STANDS, IS_OVER, IS_LATE } state;
    struct waiter *next, **link;
} waiter;

typedef struct line {
    FI_CACHE_ALIGNED fi_lock lock;
    waiter *first, **end; /* NULL: first */
} line;

static line lines[1 << LINES_LOG];

static line *line_of(const void *address)
{
    return &lines[((uintptr_t)address >> 2) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - LINES_LOG)];
}

/* ---- under the lock ---- */

static void stand(line *l, waiter *w)
{
    if (!l->end)
        l->end = &l->first;
    w->next = NULL;
    w->link = l->end;
    *l->end = w;
    l->end = &w->next;
    w->state = STANDS;
}

static void step_out(line *l, waiter *w)
{
    *w->link = w->next;
    if (w->next)
        w->next->link = w->link;
    else
        l->end = w->link;
}

/* ---- waking ---- */

/* The waiter may be gone once this has begun. */
static void wake(waiter *w)
{
    if (w->fiber)
        fi_ready(w->runtime, w->fiber);
    else
        fi_gate_open(&w->gate);
}

void fi_lot_wake_all(const void *address)
{
    line *l = line_of(address);
    waiter *woken = NULL, **end = &woken;

    fi_lock_lock(&l->lock);
    for (waiter *w = l->first, *next; w; w = next) {
        next = w->next;
        if (w->address == address) {
            step_out(l, w);
            w->state = IS_OVER;
            w->next = NULL;
            *end = w;
            end = &w->next;
        }
    }
    fi_lock_unlock(&l->lock);
    while (woken) {
        waiter *w = woken;
        woken = w->next;
        wake(w);
    }
}

/* ---- waiting ---- */

static bool stand_in_line(waiter *w)
{
    line *l = line_of(w->address);
    bool stands;

    fi_lock_lock(&l->lock);
    stands = w->state == COMES && w->still(w->arg);
    if (stands)
        stand(l, w);
    else if (w->state == COMES)
        w->state = IS_OVER;
    fi_lock_unlock(&l->lock);
    return stands;
}

/* Not if it is over.  True: it stood in line, where nobody wakes it any more. */
static bool give_up(waiter *w)
{
    line *l = line_of(w->address);
    bool stood;

    fi_lock_lock(&l->lock);
    stood = w->state == STANDS;
    if (stood)
        step_out(l, w);
    if (w->state != IS_OVER)
        w->state = IS_LATE;
    fi_lock_unlock(&l->lock);
    return stood;
}

static int wait_as_thread(waiter *w, int64_t deadline_ns)
{
    if (!stand_in_line(w))
        return 0;
    if (fi_gate_wait_until(&w->gate, deadline_ns))
        return 0;
    if (give_up(w))
        return -ETIMEDOUT;
    fi_gate_wait(&w->gate); /* somebody is about to open it */
    return 0;
}

static void expire(fi_timer *t)
{
    waiter *w = (waiter *)(void *)((char *)t - offsetof(waiter, timer));

    if (give_up(w))
        wake(w);
}

static bool commit(fi_fiber *f, void *arg)
{
    (void)f;
    return stand_in_line(arg);
}

static int park(waiter *w)
{
    fi_fiber_park(w->fiber, commit, w);
    return w->state == IS_LATE ? -ETIMEDOUT : 0;
}

/* The timer is set first: whatever comes of it later finds the waiter in line or tells it not to stand there. */
static int park_until(waiter *w, int64_t deadline_ns)
{
    fi_timers *timers = &w->runtime->timers;
    int e;

    w->timer = (fi_timer){.deadline_ns = deadline_ns, .fire = expire};
    if (fi_timers_add(timers, &w->timer))
        fi_idle_notify(&w->runtime->idle);
    e = park(w);
    fi_timers_remove(timers, &w->timer);
    return e;
}

static int wait_as_fiber(waiter *w, fi_worker *on, int64_t deadline_ns)
{
    int e;

    if (on->runtime->orphaned)
        fi_mistake("a wait, in the child of a fork, for what other threads were doing");
    w->runtime = on->runtime;
    w->fiber = fi_fiber_of_fork(fi_load_relaxed(&on->current));
    fi_store_relaxed(&w->fiber->waits_at, w->address);
    e = deadline_ns == FI_TIMER_NEVER ? park(w) : park_until(w, deadline_ns);
    fi_store_relaxed(&w->fiber->waits_at, NULL);
    return e;
}

static bool commit_yield(fi_fiber *f, void *arg)
{
    fi_worker *w = arg;

    fi_ring_push(w, &f->ready);
    fi_notify(w);
    return true;
}

/* Too late already.  Who asks again and again must still let others run, or it asks for ever. */
static int be_late(fi_worker *on)
{
    if (on && !on->runtime->orphaned)
        fi_fiber_park(fi_fiber_of_fork(fi_load_relaxed(&on->current)), commit_yield, on);
    return -ETIMEDOUT;
}

int fi_lot_wait(const void *address, bool (*still)(void *arg), void *arg, int64_t deadline_ns)
{
    waiter w = {.address = address, .still = still, .arg = arg};
    fi_worker *on = fi_worker_self();

    if (deadline_ns != FI_TIMER_NEVER && deadline_ns <= fi_clock_now())
        return be_late(on);
    return on ? wait_as_fiber(&w, on, deadline_ns) : wait_as_thread(&w, deadline_ns);
}

void fi_lot_forget(void)
{
    for (int i = 0; i < 1 << LINES_LOG; i++) {
        fi_lock_init(&lines[i].lock);
        lines[i].first = NULL;
        lines[i].end = NULL;
    }
}
