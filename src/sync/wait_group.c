/* Wait group.  A waiter reads the counter under the lock, even if it is 0.  So the call that
 * counted down to 0 has released the lock and does not touch the group again.  The waiter may free
 * it. */
#include "sync/object.h"

#include "base/fatal.h"
#include "sched/span.h"

/* The layout of filch_wait_group. */
typedef struct wait_group {
    fi_biased_lock lock;
    fi_waitq waiters;
    uint64_t count;
} wait_group;

_Static_assert(sizeof(wait_group) == sizeof(filch_wait_group), "one layout");
_Static_assert(offsetof(wait_group, waiters) == offsetof(filch_wait_group, waiters_), "one layout");
_Static_assert(offsetof(wait_group, count) == offsetof(filch_wait_group, count_), "one layout");

static wait_group *wait_group_of(filch_wait_group *g)
{
    return (wait_group *)(void *)g;
}

void filch_wait_group_add(filch_wait_group *public, unsigned n)
{
    fi_wait_chaos();
    wait_group *g = wait_group_of(public);
    uint32_t id = fi_lock_id();

    fi_biased_lock_lock(&g->lock, id);
    if (n > UINT64_MAX - g->count)
        fi_fatal("filch_wait_group_add: the counter would overflow");
    g->count += n;
    fi_biased_lock_unlock(&g->lock, id);
}

void filch_wait_group_done(filch_wait_group *public)
{
    fi_wait_chaos();
    wait_group *g = wait_group_of(public);
    uint32_t id = fi_lock_id();
    fi_wake_list woken = {0};

    FI_SPAN(join(g));
    fi_biased_lock_lock(&g->lock, id);
    if (g->count == 0)
        fi_fatal("filch_wait_group_done: the counter is 0; call filch_wait_group_add first");
    if (--g->count == 0)
        fi_wake_list_take_all(&woken, &g->waiters, 0);
    fi_biased_lock_unlock(&g->lock, id);
    fi_wake_list_wake(woken);
}

int filch_wait_group_wait_until(filch_wait_group *public, int64_t deadline)
{
    fi_wait_chaos();
    wait_group *g = wait_group_of(public);
    fi_waiter w = {0};
    int e = 0;

    fi_obj_lock(&g->lock);
    if (g->count > 0)
        e = fi_waitq_wait(&w, &g->waiters, &g->lock, (fi_wait_reason){"wait group", g}, deadline);
    else
        fi_obj_unlock(&g->lock);
    if (e == 0)
        FI_SPAN(collect(g));
    return e;
}

int filch_wait_group_wait(filch_wait_group *g)
{
    return filch_wait_group_wait_until(g, FI_TIMER_NEVER);
}
