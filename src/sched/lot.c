/* Lines of waiters, in a table by their address.  Two addresses may share a line: who wakes looks for its own. */
#include "sched/lot.h"

#include "base/at_fork.h"
#include "base/compiler.h"
#include "sched/wake_list.h"
#include "sched/worker.h"

#include <stddef.h>
#include <string.h>

#define PLACES_LOG 8

typedef struct place {
    FI_CACHE_ALIGNED fi_biased_lock latch;
    fi_line line;
} place;

static place places[1 << PLACES_LOG];

static place *place_of(const void *address)
{
    return &places[((uintptr_t)address >> 2) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - PLACES_LOG)];
}

/* [lock held] The waiters of this address, in order. */
static fi_wake_list take_all(place *p, const void *address)
{
    fi_wake_list list = {0};
    fi_wait *w = p->line.first;
    const fi_wait *last = w ? w->prev : NULL;
    bool more = w != NULL;

    while (more) {
        fi_wait *next = w->next;
        more = w != last;
        if (w->what.object == address) {
            fi_line_remove(w);
            fi_wake_list_append(&list, w);
        }
        w = next;
    }
    return list;
}

void fi_lot_wake_all(const void *address)
{
    place *p = place_of(address);
    fi_wake_list woken;

    fi_hold_also(&p->latch);
    woken = take_all(p, address);
    fi_let_go(&p->latch);
    fi_wake_list_wake(woken);
}

/* What it waits for may be run by a guest that its fiber is the root of. */
static void say_where(const void *address)
{
    const fi_worker *on = fi_worker_self();

    if (on)
        fi_store_relaxed(&fi_fiber_of_bounds(fi_load_relaxed(&on->current))->wait_key, address);
}

int fi_lot_wait(fi_wait_for what, bool stubborn, bool (*still)(void *arg), void *arg,
                int64_t deadline_ns)
{
    place *p = place_of(what.object);
    fi_wait w = {.stubborn = stubborn};
    int e = 0;

    say_where(what.object);
    fi_hold_also(&p->latch);
    if (still(arg))
        e = fi_wait_in(&w, &p->line, &p->latch, what, deadline_ns);
    else
        fi_let_go(&p->latch);
    say_where(NULL);
    return e;
}

/* [child of a fork] There are no waiters. */
static void forget_waiters(void)
{
    memset(places, 0, sizeof places);
}

__attribute__((constructor)) static void register_at_fork(void)
{
    fi_at_fork(FI_FORK_LOT, NULL, forget_waiters);
}
