/* The words of a fiber that compiled task code looks at: two addresses that a spawn and a sync compare
 * their own with.  The runtime moves them out of the way when it wants to be called.
 *
 * That is how the hungry ask.  A worker that found nothing asks those who run fibers; the fiber sees it
 * at its next spawn or sync, and answers there, in the room above: it publishes private tasks if
 * there are any.  An ask may be lost when the fiber sets its words back at that moment, so both follow
 * a list:
 *
 *     the fiber answers                       who goes to sleep
 *     1. set the words back                   1. become a sleeper
 *     2. fence  task_bounds.reset.fence             2. fence  idle.sleep.fence
 *     3. is anybody hungry?  publish          3. look into the deque; nothing there?  ask
 *
 * If step 3 on the right is overwritten by step 1 on the left, the left fence comes after the right
 * one, and step 3 on the left sees the sleeper.
 *
 * A fiber that is resumed begins as if asked, as nobody could ask it while it was away.
 */
#ifndef FI_SCHED_TASK_BOUNDS_H
#define FI_SCHED_TASK_BOUNDS_H

#include "base/atomic.h"
#include "base/compiler.h"

#include <stdint.h>

/* The same layout as filch_task_bounds_ in <filch/task.h>. */
typedef struct fi_task_bounds {
    FI_CACHE_ALIGNED FI_ATOMIC(char *) limit; /* written by the fiber, and by those who ask */
    FI_ATOMIC(char *) floor;                  /* likewise */
    FI_CACHE_ALIGNED unsigned long spawned;   /* the fiber's own from here on */
    long open;
} fi_task_bounds;

#define FI_LIMIT_REQUESTED ((char *)0)
#define FI_FLOOR_REQUESTED ((char *)UINTPTR_MAX)

/* [worker] The fiber that I run, so that others can ask it; NULL: none.
 * task_bounds.store -> task_bounds.load: who asks a new fiber must not see its memory from before it was made. */
static inline void fi_task_bounds_store_current(FI_ATOMIC(fi_task_bounds *) * where,
                                                fi_task_bounds *f)
{
    fi_store_release(where, f, task_bounds.store);
}

static inline fi_task_bounds *fi_task_bounds_load_current(FI_ATOMIC(fi_task_bounds *) * where)
{
    return fi_load_acquire(where, task_bounds.load);
}

/* [any] Have the fiber call us at its next spawn or sync. */
static inline void fi_task_bounds_request(fi_task_bounds *f)
{
    fi_store_relaxed(&f->limit, FI_LIMIT_REQUESTED);
    fi_store_relaxed(&f->floor, FI_FLOOR_REQUESTED);
}

/* [any] True when a second ask would change nothing. */
static inline bool fi_task_bounds_is_requested(fi_task_bounds *f)
{
    return fi_load_relaxed(&f->limit) == FI_LIMIT_REQUESTED &&
           fi_load_relaxed(&f->floor) == FI_FLOOR_REQUESTED;
}

/* [fiber] Set the words back.  What was asked before is seen by fi_idle_hungry after this. */
static inline void fi_task_bounds_reset(fi_task_bounds *f, char *limit, char *floor)
{
    fi_store_relaxed(&f->limit, limit);
    fi_store_relaxed(&f->floor, floor);
    fi_fence_seq_cst(task_bounds.reset.fence);
}

/* [fiber] Everything before to is public from now on, so a sync of it must call us.  An ask that came
 * meanwhile stays. */
static inline void fi_task_bounds_raise_floor(fi_task_bounds *f, char *from, char *to)
{
    (void)fi_cas_relaxed(&f->floor, &from, to);
}

#endif
