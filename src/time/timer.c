/* Functions to be called later.  What a timer will start is made ready beforehand, so that nothing can fail when its time
 * has come. */
#include "sched/runtime.h"
#include "sched/timers.h"
#include "sched/wait.h"

#include <filch/time.h>

#include <errno.h>
#include <stddef.h>

typedef struct timer {
    fi_timer timer; /* first */
    fi_runnable *start;
    uint64_t runtime; /* its number; the runtime may be gone by now */
} timer;

_Static_assert(sizeof(timer) <= sizeof(filch_timer), "a timer fits into what users have");
_Static_assert(_Alignof(timer) <= _Alignof(filch_timer), "likewise");

static timer *of(filch_timer *t)
{
    return (timer *)(void *)t;
}

/* From here on its function may run and the timer be gone, but not before we are out of here: filch_timer_stop waits. */
static void fire(fi_timer *t)
{
    fi_start_give(fi_worker_self(), ((timer *)(void *)t)->start);
}

static int start(fi_runtime *rt, fi_worker *w, timer *t, void (*work)(void *arg), void *arg)
{
    int first;

    t->start = fi_start_new(rt, w, work, arg);
    t->runtime = rt->number;
    if (!t->start)
        return -ENOMEM;
    first = fi_timers_add(&rt->timers, &t->timer);
    if (first < 0)
        fi_start_drop(rt, w, t->start);
    if (first > 0)
        fi_idle_notify(&rt->idle);
    return first < 0 ? first : 0;
}

int filch_timer_start(filch_timer *user, int64_t deadline, void (*work)(void *arg), void *arg)
{
    fi_wait_chaos();
    fi_worker *w = fi_worker_self();
    timer *t = of(user);
    fi_runtime *rt;
    int e;

    *t = (timer){.timer = {.deadline_ns = deadline, .fire = fire}};
    if (w)
        return start(w->runtime, w, t, work, arg);
    rt = fi_runtime_enter();
    e = start(rt, NULL, t, work, arg);
    fi_runtime_leave(rt);
    return e;
}

static int stop(fi_runtime *rt, fi_worker *w, timer *t)
{
    if (!fi_timers_remove(&rt->timers, &t->timer))
        return 0;
    fi_start_drop(rt, w, t->start);
    return 1;
}

/* One whose runtime was stopped does not fire any more. */
int filch_timer_stop(filch_timer *user)
{
    fi_wait_chaos();
    fi_worker *w = fi_worker_self();
    timer *t = of(user);
    fi_runtime *rt;
    int stopped = 1;

    if (w && t->runtime == w->runtime->number)
        return stop(w->runtime, w, t);
    rt = fi_runtime_look();
    if (rt && rt->number == t->runtime)
        stopped = stop(rt, NULL, t);
    else if (t->timer.place == 0)
        stopped = 0;
    fi_runtime_look_end();
    return stopped;
}
