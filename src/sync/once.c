/* Once.  After the first run, a call is a single load without the lock. */
#include "sync/object.h"

#include "base/fatal.h"
#include "base/init_flag.h"
#include "base/message.h"
#include "sched/worker.h"

enum { NEW, RUNNING, DONE };

/* The layout of filch_once. */
typedef struct once {
    fi_biased_lock lock;
    fi_waitq waiters;
    const void *runner; /* the fiber or thread that runs the function */
    FI_ATOMIC(uint32_t) state;
    uint32_t extra;
} once;

_Static_assert(sizeof(once) == sizeof(filch_once), "one layout");
_Static_assert(offsetof(once, waiters) == offsetof(filch_once, waiters_), "one layout");
_Static_assert(offsetof(once, runner) == offsetof(filch_once, runner_), "one layout");
_Static_assert(offsetof(once, state) == offsetof(filch_once, state_), "one layout");

/* The current fiber, or an address that is unique to the thread. */
static FI_NOINLINE const void *current_runner(void)
{
    static _Thread_local char thread;
    const fi_fiber *f = fi_fiber_self();

    return f ? (const void *)f : &thread;
}

static void once_finish(once *o)
{
    fi_wake_list woken = {0};

    fi_obj_lock(&o->lock);
    fi_init_set(&o->state, DONE);
    fi_wake_list_take_all(&woken, &o->waiters, 0);
    fi_obj_unlock(&o->lock);
    fi_wake_list_wake(woken);
}

/* [lock held, which this releases] */
static void once_wait(once *o, const void *self)
{
    fi_waiter w = {.uncancellable = true};

    if (o->runner == self)
        fi_fatal("filch_once_run: called by the function that it runs");
    fi_waitq_wait(&w, &o->waiters, &o->lock, (fi_wait_reason){"once", o}, FI_TIMER_NEVER);
}

static FI_NOINLINE void once_run_slow(once *o, void (*work)(void *arg), void *arg)
{
    const void *self = current_runner();
    uint32_t state;

    fi_obj_lock(&o->lock);
    state = fi_load_relaxed(&o->state);
    if (state == RUNNING) {
        once_wait(o, self);
        return;
    }
    if (state == NEW && !work) {
        fi_obj_unlock(&o->lock);
        fi_message_null("filch_once_run", "work", "a function");
        return;
    }
    if (state == NEW) {
        fi_store_relaxed(&o->state, RUNNING);
        o->runner = self;
    }
    fi_obj_unlock(&o->lock);
    if (state == DONE)
        return;
    work(arg);
    once_finish(o);
}

void filch_once_run(filch_once *public, void (*work)(void *arg), void *arg)
{
    fi_wait_chaos();
    once *o = (once *)(void *)public;

    if (fi_init_get(&o->state) != DONE)
        once_run_slow(o, work, arg);
}
