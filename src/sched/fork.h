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
 *     2. fence  fork.answer.fence             2. fence  idle.sleep.fence
 *     3. is anybody hungry?  publish          3. look into the deque; nothing there?  ask
 *
 * If step 3 on the right is overwritten by step 1 on the left, the left fence comes after the right
 * one, and step 3 on the left sees the sleeper.
 *
 * A fiber that is resumed begins as if asked, as nobody could ask it while it was away.
 */
#ifndef FI_SCHED_FORK_H
#define FI_SCHED_FORK_H

#include "base/atomic.h"
#include "base/compiler.h"

#include <stdint.h>

/* The same layout as filch_fork_ in <filch/task.h>. */
typedef struct fi_fork {
    FI_CACHE_ALIGNED FI_ATOMIC(char *) limit; /* written by the fiber, and by those who ask */
    FI_ATOMIC(char *) floor;                  /* likewise */
    FI_CACHE_ALIGNED unsigned long spawned;   /* the fiber's own from here on */
    long open;
} fi_fork;

#define FI_FORK_LIMIT_ASKED ((char *)0)
#define FI_FORK_FLOOR_ASKED ((char *)UINTPTR_MAX)

/* [worker] The fiber that I run, so that others can ask it; NULL: none.
 * fork.show -> fork.look: who asks a new fiber must not see its memory from before it was made. */
static inline void fi_fork_show(FI_ATOMIC(fi_fork *) * where, fi_fork *f)
{
    fi_store_release(where, f, fork.show);
}

static inline fi_fork *fi_fork_look(FI_ATOMIC(fi_fork *) * where)
{
    return fi_load_acquire(where, fork.look);
}

/* [any] Have the fiber call us at its next spawn or sync. */
static inline void fi_fork_ask(fi_fork *f)
{
    fi_store_relaxed(&f->limit, FI_FORK_LIMIT_ASKED);
    fi_store_relaxed(&f->floor, FI_FORK_FLOOR_ASKED);
}

/* [any] True when a second ask would change nothing. */
static inline bool fi_fork_asked(fi_fork *f)
{
    return fi_load_relaxed(&f->limit) == FI_FORK_LIMIT_ASKED &&
           fi_load_relaxed(&f->floor) == FI_FORK_FLOOR_ASKED;
}

/* [fiber] Set the words back.  What was asked before is seen by fi_idle_hungry after this. */
static inline void fi_fork_answer(fi_fork *f, char *limit, char *floor)
{
    fi_store_relaxed(&f->limit, limit);
    fi_store_relaxed(&f->floor, floor);
    fi_fence_seq_cst(fork.answer.fence);
}

/* [fiber] Everything before to is public from now on, so a sync of it must call us.  An ask that came
 * meanwhile stays. */
static inline void fi_fork_raise_floor(fi_fork *f, char *from, char *to)
{
    (void)fi_cas_relaxed(&f->floor, &from, to);
}

#endif
