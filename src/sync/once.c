/* Most who come find that it is done, by a look without the latch. */
#include "sync/object.h"

#include "base/fatal.h"
#include "base/init_flag.h"
#include "sched/worker.h"

#include <stddef.h>

enum { NEW, RUNNING, DONE };

/* The same layout as filch_once. */
typedef struct once {
    fi_biased_lock latch;
    fi_line line;
    const void *runner; /* once somebody runs it */
    FI_ATOMIC(uint32_t) state;
    uint32_t extra;
} once;

_Static_assert(sizeof(once) == sizeof(filch_once), "one layout");
_Static_assert(offsetof(once, line) == offsetof(filch_once, line_), "one layout");
_Static_assert(offsetof(once, runner) == offsetof(filch_once, runner_), "one layout");
_Static_assert(offsetof(once, state) == offsetof(filch_once, state_), "one layout");

/* The fiber, or the thread. */
static __attribute__((noinline)) const void *self(void)
{
    static _Thread_local char thread;
    const fi_worker *w = fi_worker_self();

    return w ? (const void *)fi_load_relaxed(&w->current) : &thread;
}

static void end(once *o)
{
    fi_wake_list woken = {0};

    fi_hold(&o->latch);
    fi_init_set(&o->state, DONE);
    fi_wake_list_take_all(&woken, &o->line, 0);
    fi_let_go(&o->latch);
    fi_wake_list_wake(woken);
}

/* [latch held, which this lets go] */
static void await_end(once *o, const void *me)
{
    fi_wait w = {.stubborn = true};

    if (o->runner == me)
        fi_fatal("filch_once_run from inside its own work");
    fi_wait_in(&w, &o->line, &o->latch, (fi_wait_for){"once", o}, FI_TIMER_NEVER);
}

static __attribute__((noinline)) void run(once *o, void (*work)(void *arg), void *arg)
{
    const void *me = self();
    uint32_t state;

    fi_hold(&o->latch);
    state = fi_load_relaxed(&o->state);
    if (state == RUNNING) {
        await_end(o, me);
        return;
    }
    if (state == NEW) {
        fi_store_relaxed(&o->state, RUNNING);
        o->runner = me;
    }
    fi_let_go(&o->latch);
    if (state == DONE)
        return;
    work(arg);
    end(o);
}

void filch_once_run(filch_once *public, void (*work)(void *arg), void *arg)
{
    fi_wait_chaos();
    once *o = (once *)(void *)public;

    if (fi_init_get(&o->state) != DONE)
        run(o, work, arg);
}
