/* Deadlines of groups: a timer that cancels the group.
 *
 * The timer is in memory of its own.  The wait for the group removes it from the heap, which waits
 * until it no longer fires.  So the memory of the group may be freed after the wait. */
#include "base/mem.h"
#include "base/message.h"
#include "job/group.h"
#include "sched/runtime.h"
#include "sched/timers.h"
#include "wait/waitq.h"

#include <errno.h>
#include <stddef.h>

struct fi_group_deadline {
    fi_timer timer; /* first */
    fi_group *group;
    uint64_t runtime; /* number of its runtime, which may have stopped */
};

static void deadline_fire(fi_timer *t)
{
    fi_group_cancel_with(((fi_group_deadline *)(void *)t)->group, FI_GROUP_TIMED_OUT);
}

/* ---- remove ---- */

static void deadline_remove_in(fi_runtime *rt, fi_group_deadline *d)
{
    if (!d)
        return;
    if (rt && rt->number == d->runtime)
        fi_timer_heap_remove(&d->timer);
    FI_DELETE(fi_group_deadline, d);
}

static void deadline_remove(fi_group_deadline *d)
{
    const fi_worker *w = fi_worker_self();

    if (w) {
        deadline_remove_in(w->runtime, d);
        return;
    }
    deadline_remove_in(fi_runtime_lock_running(), d);
    fi_runtime_unlock_running();
}

/* Several threads may set the deadline of a group. */
static fi_group_deadline *deadline_exchange(fi_group *g, fi_group_deadline *d)
{
    fi_group_deadline *former;

    fi_lock_lock(&g->scope.lock);
    former = fi_load_relaxed(&g->deadline);
    fi_store_relaxed(&g->deadline, d);
    fi_lock_unlock(&g->scope.lock);
    return former;
}

void fi_group_clear_deadline(fi_group *g)
{
    deadline_remove(deadline_exchange(g, NULL));
}

/* ---- set ---- */

static int deadline_add(fi_runtime *rt, fi_group_deadline *d)
{
    d->runtime = rt->number;
    return fi_timers_add(rt, fi_worker_self(), &d->timer);
}

/* NULL: no memory. */
static fi_group_deadline *deadline_new(fi_runtime *rt, fi_group *g, int64_t deadline)
{
    fi_group_deadline *d = FI_NEW(fi_group_deadline);

    if (!d)
        return NULL;
    d->timer = (fi_timer){.deadline_ns = deadline, .fire = deadline_fire};
    d->group = g;
    if (deadline_add(rt, d) == 0)
        return d;
    FI_DELETE(fi_group_deadline, d);
    return NULL;
}

/* The timer runs before the group has it.  If it were the other way round, another thread could
 * remove a timer that is not in the heap yet. */
static int deadline_set(fi_runtime *rt, fi_group *g, int64_t deadline)
{
    fi_group_deadline *d = deadline_new(rt, g, deadline);

    if (!d)
        return -ENOMEM;
    deadline_remove_in(rt, deadline_exchange(g, d));
    return 0;
}

int filch_group_set_deadline(filch_group *group, int64_t deadline)
{
    fi_wait_chaos();
    fi_group *g = fi_group_of(group);
    const fi_worker *w = fi_worker_self();
    fi_runtime *rt;
    int e;

    if (!g)
        return fi_message_null("filch_group_set_deadline", "g", "a group");
    if (fi_load_relaxed(&g->pending) & FI_PENDING_OF_JOB)
        return fi_message_invalid("filch_group_set_deadline: the group is the child group of a "
                                  "job; put the job into a group with a deadline");
    if (deadline == FI_TIMER_NEVER) {
        fi_group_clear_deadline(g);
        return 0;
    }
    if (w)
        return deadline_set(w->runtime, g, deadline);
    rt = fi_runtime_enter();
    if (!rt)
        return fi_runtime_start_error();
    e = deadline_set(rt, g, deadline);
    fi_runtime_leave(rt);
    return e;
}
