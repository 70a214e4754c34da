/* Even who finds the number at 0 has taken the latch to see it.  So the last who counts down is done with the group by
 * then, and it may be gone. */
#include "sync/object.h"

#include "base/fatal.h"
#include "sched/span.h"

#include <stddef.h>

/* The same layout as filch_wait_group. */
typedef struct wait_group {
    fi_biased_lock latch;
    fi_line line;
    uint64_t count;
} wait_group;

_Static_assert(sizeof(wait_group) == sizeof(filch_wait_group), "one layout");
_Static_assert(offsetof(wait_group, line) == offsetof(filch_wait_group, line_), "one layout");
_Static_assert(offsetof(wait_group, count) == offsetof(filch_wait_group, count_), "one layout");

static wait_group *of(filch_wait_group *g)
{
    return (wait_group *)(void *)g;
}

void filch_wait_group_add(filch_wait_group *public, unsigned n)
{
    fi_wait_chaos();
    wait_group *g = of(public);
    uint32_t who = fi_lock_id();

    fi_biased_lock_lock(&g->latch, who);
    if (n > UINT64_MAX - g->count)
        fi_fatal("filch_wait_group_add: the group's number would be too large");
    g->count += n;
    fi_biased_lock_unlock(&g->latch, who);
}

void filch_wait_group_done(filch_wait_group *public)
{
    fi_wait_chaos();
    wait_group *g = of(public);
    uint32_t who = fi_lock_id();
    fi_wake_list woken = {0};

    FI_SPAN(join(g));
    fi_biased_lock_lock(&g->latch, who);
    if (g->count == 0)
        fi_fatal("filch_wait_group_done more often than was added");
    if (--g->count == 0)
        fi_wake_list_take_all(&woken, &g->line, 0);
    fi_biased_lock_unlock(&g->latch, who);
    fi_wake_list_wake(woken);
}

int filch_wait_group_wait_until(filch_wait_group *public, int64_t deadline)
{
    fi_wait_chaos();
    wait_group *g = of(public);
    fi_wait w = {0};
    int e = 0;

    fi_hold(&g->latch);
    if (g->count > 0)
        e = fi_wait_in(&w, &g->line, &g->latch, (fi_wait_for){"wait group", g}, deadline);
    else
        fi_let_go(&g->latch);
    if (e == 0)
        FI_SPAN(collect(g));
    return e;
}

int filch_wait_group_wait(filch_wait_group *g)
{
    return filch_wait_group_wait_until(g, FI_TIMER_NEVER);
}
