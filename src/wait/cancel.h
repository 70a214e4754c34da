/* Cancelling a fiber, together with those of its tasks that other fibers run.
 *
 * A task that its spawner runs itself waits as the spawner does.  A stolen task runs on the thief's
 * fiber, whose waits know nothing of the spawner.  So the thief's fiber is a member of the
 * spawner's cancellation while it runs the task.  A fiber that steals a task from a member is a
 * member as well.
 *
 *     root      a fiber that has a handle, for filch_fiber_cancel
 *     member    a fiber that runs a stolen task of the root, or of another member
 *
 * The flags of the root and of its members change together, under the root's lock.  A fiber that
 * becomes a member copies the root's flag there.  So a cancellation either finds the fiber in the
 * list or has set the flag before.  The root outlives its members, because it syncs their tasks.
 *
 * A waiting fiber reads only its own flag, and a root without stolen tasks pays nothing.
 */
#ifndef FI_WAIT_CANCEL_H
#define FI_WAIT_CANCEL_H

#include "sched/fiber.h"

/* [fiber] The root whose cancellation reaches the tasks that it spawns; NULL: it cannot be
 * cancelled. */
fi_fiber *fi_cancel_root(const fi_fiber *f);

/* [fiber] It begins to run a stolen task; it has ended it.  root: of the spawner; NULL: it has
 * none. */
void fi_cancel_join(fi_fiber *f, fi_fiber *root);
void fi_cancel_leave(fi_fiber *f);

/* [thread that has pinned it] Cancel the fiber and its members. */
void fi_cancel_all(fi_fiber *root);

/* [fiber] End the cancellation of its root and of all members. */
void fi_cancel_undo(fi_fiber *f);

#endif
