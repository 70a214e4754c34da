/* Cancelling the fibers of a scope: of a group, of a job, or of a fiber and its stolen tasks.
 *
 * A fiber enters the lists of its scopes at its first cancellable wait, and leaves them when its
 * work ends or when its group is cancelled.  So work that never waits costs nothing.
 *
 *     scope                        the fibers in its list
 *     of a fiber (cancel.tasks)    those that run stolen tasks of the fiber
 *     of a group or a job          those that run its work, and those that run stolen tasks of that
 *     of a job with a parent       none: they are in the list of the outermost scope
 *
 *     fiber, at its first wait                canceller
 *     store its waiter                        1. set `cancelled` of the scope
 *     under the lock of the list:             2. under the lock of the list, for some fibers:
 *       enter; is a scope cancelled?               set FI_CANCEL_DONE and a pin, remove it
 *     cancelled?  then do not wait            3. fence; end the waits of these fibers; unpin
 *                                             4. repeat 2 and 3 for the others
 *
 * If the fiber enters before step 2, the canceller finds it and sees its waiter.  If it enters
 * later, it sees that its scope is cancelled.  The canceller holds no lock of a list while it ends
 * waits, which takes the locks of objects.  So a fiber may enter while it holds such a lock.
 *
 * Cancellations have increasing numbers.  filch_fiber_uncancel makes the work of a fiber ignore the
 * cancellations of its group up to the newest number.
 */
#ifndef FI_WAIT_CANCEL_H
#define FI_WAIT_CANCEL_H

#include "sched/fiber.h"

#include <stdbool.h>

/* Groups and jobs that are cancelled and have not ended.  While there are none, no scope must look at
 * its ancestors. */
extern FI_ATOMIC(uint32_t) fi_cancel_n_cancelled __attribute__((visibility("hidden")));

/* [any] Is the scope cancelled, or a scope around it? */
bool fi_cancel_is_cancelled_slow(fi_cancel_scope *s);
static inline bool fi_cancel_is_cancelled(fi_cancel_scope *s)
{
    return fi_load_relaxed(&fi_cancel_n_cancelled) != 0 && fi_cancel_is_cancelled_slow(s);
}

/* [any that keeps the scope] Cancel the scope.  False: it was cancelled before.  The caller then
 * interrupts its fibers. */
bool fi_cancel_begin(fi_cancel_scope *s);
void fi_cancel_interrupt(fi_cancel_scope *s);

/* [its last user] The scope ends, or is used again. */
void fi_cancel_end_slow(fi_cancel_scope *s);
static inline void fi_cancel_end(fi_cancel_scope *s)
{
    if (fi_load_relaxed(&s->cancelled) != 0)
        fi_cancel_end_slow(s);
}

/* [any that keeps both scopes, before the work of the child is queued] Set the parent of the child;
 * NULL: it was not attached, and has none.  -> cancel.parent: the parent is initialised. */
static inline void fi_cancel_set_parent(fi_cancel_scope *child, fi_cancel_scope *parent)
{
    fi_store_release(&child->parent, parent, cancel.attach);
}

/* [the same, afterwards] Cancel the fibers that are in the list of the child with those of its parent.
 * A child without fibers needs no call. */
void fi_cancel_attach(fi_cancel_scope *child);

/* [fiber] Enter the lists of its scopes.  Returns: cancel_state. */
uint32_t fi_cancel_enter(fi_fiber *f);

/* [fiber] Is it cancelled?  It enters the lists. */
bool fi_cancel_check(fi_fiber *f);

/* [fiber, cancelled] End its cancellation, and that of its tasks.  False: another of these fibers
 * has done so. */
bool fi_cancel_undo(fi_fiber *f);

/* ---- handles ---- */

/* [thread that has pinned it] Cancel a fiber and its tasks. */
void fi_cancel_fiber(fi_fiber *f);

/* [fiber] It was cancelled before it began; its handle ends. */
void fi_cancel_set(fi_fiber *f);
void fi_cancel_clear_slow(fi_fiber *f);
static inline void fi_cancel_clear(fi_fiber *f)
{
    if (fi_load_relaxed(&f->cancel_state) & FI_CANCEL_DONE)
        fi_cancel_clear_slow(f);
}

/* ---- stolen tasks ---- */

/* [fiber] Whose work the tasks that it spawns belong to; NULL: it cannot be cancelled. */
fi_fiber *fi_cancel_root(const fi_fiber *f);

/* [fiber] It begins to run a stolen task; it has ended it.  root: of the spawner; NULL: it has
 * none. */
void fi_cancel_begin_task(fi_fiber *f, fi_fiber *root);
void fi_cancel_end_task(fi_fiber *f);

/* [fiber] Another fiber has run its task, and may have called filch_fiber_uncancel.  Then this fiber
 * enters the lists, so that the effect ends with its work. */
void fi_cancel_after_task(fi_fiber *f);

#endif
