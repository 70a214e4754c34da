/* Task bounds: two addresses of a fiber that compiled task code compares at each spawn and sync.
 * The runtime sets them to extreme values when it wants to be called.
 *
 * This is how hungry workers request work.  A worker that found nothing sends a request to workers
 * that run fibers.  The fiber sees it at its next spawn or sync, and handles it in src/task: it
 * publishes private tasks if there are any.  A request may be lost if the fiber resets its bounds
 * at the same moment, so both sides follow a list:
 *
 *     the fiber resets its bounds             the worker that goes to sleep
 *     1. store both bounds                    1. become a sleeper
 *     2. fence  task_bounds.reset.fence       2. fence  idle.sleep.fence
 *     3. is a worker hungry?  publish         3. read the deque; empty?  send a request
 *
 * If step 3 on the right is overwritten by step 1 on the left, the left fence comes after the right
 * one, and step 3 on the left sees the sleeper.
 *
 * A fiber that is resumed begins with a request, as no worker could send one while it was parked.
 */
#ifndef FI_SCHED_TASK_BOUNDS_H
#define FI_SCHED_TASK_BOUNDS_H

#include "base/atomic.h"
#include "base/compiler.h"

#include <stdint.h>

/* The same layout as filch_task_bounds_ in <filch/task.h>. */
typedef struct fi_task_bounds {
    FI_CACHE_ALIGNED FI_ATOMIC(char *) limit; /* written by the fiber and by requesters */
    FI_ATOMIC(char *) floor;                  /* likewise */
    FI_CACHE_ALIGNED unsigned long spawned;   /* used only by the fiber from here on */
    long open;
} fi_task_bounds;

#define FI_LIMIT_REQUESTED ((char *)0)
#define FI_FLOOR_REQUESTED ((char *)UINTPTR_MAX)

/* [worker] The fiber that the worker runs, so that others can send it requests; NULL: none.
 * task_bounds.store -> task_bounds.load: a thread that sends a request to a new fiber must not see
 * the memory from before the fiber was made. */
static inline void fi_task_bounds_store_current(FI_ATOMIC(fi_task_bounds *) * where,
                                                fi_task_bounds *f)
{
    fi_store_release(where, f, task_bounds.store);
}

static inline fi_task_bounds *fi_task_bounds_load_current(FI_ATOMIC(fi_task_bounds *) * where)
{
    return fi_load_acquire(where, task_bounds.load);
}

/* [any] Make the fiber call the runtime at its next spawn or sync. */
static inline void fi_task_bounds_request(fi_task_bounds *f)
{
    fi_store_relaxed(&f->limit, FI_LIMIT_REQUESTED);
    fi_store_relaxed(&f->floor, FI_FLOOR_REQUESTED);
}

/* [any] True: another request would change nothing. */
static inline bool fi_task_bounds_is_requested(fi_task_bounds *f)
{
    return fi_load_relaxed(&f->limit) == FI_LIMIT_REQUESTED &&
           fi_load_relaxed(&f->floor) == FI_FLOOR_REQUESTED;
}

/* [fiber] Reset the bounds.  A fi_idle_hungry after this sees the senders of earlier requests. */
static inline void fi_task_bounds_reset(fi_task_bounds *f, char *limit, char *floor)
{
    fi_store_relaxed(&f->limit, limit);
    fi_store_relaxed(&f->floor, floor);
    fi_fence_seq_cst(task_bounds.reset.fence);
}

/* [fiber] All tasks before `to` are public now, so a sync of them must call the runtime.  A request
 * that came meanwhile stays. */
static inline void fi_task_bounds_raise_floor(fi_task_bounds *f, char *from, char *to)
{
    (void)fi_cas_relaxed(&f->floor, &from, to);
}

#endif
