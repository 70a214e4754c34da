/* Cancelling a fiber, together with those of its tasks that other fibers run.
 *
 * A task that its spawner runs itself waits as the spawner does.  A stolen task runs on another fiber,
 * the thief's, whose waits know nothing of the spawner.  So that fiber is a member of the cancellation
 * of the spawner while it runs the task, and so is the fiber that runs a task stolen from there:
 *
 *     root      a fiber that has a handle, which filch_fiber_cancel is given
 *     member    a fiber that runs a stolen task of the root, or of another member
 *
 * The flags of the root and of its members change together, under the root's latch.  A fiber that
 * becomes a member takes over the root's flag there, so a cancellation finds it in the list or is seen
 * by it.  The root outlives its members, as it syncs their tasks.
 *
 * A waiting fiber looks at its own flag only, and a root without stolen tasks pays nothing.
 */
#ifndef FI_SCHED_CANCEL_H
#define FI_SCHED_CANCEL_H

#include "base/latch.h"

typedef struct fi_fiber fi_fiber;

typedef struct fi_cancel {
    fi_fiber *root;        /* of a member; NULL: it is none.  Its own */
    fi_fiber *next, *prev; /* of a member, under the root's latch */
    fi_latch latch;        /* of a root; taken before the latch of an object */
    fi_fiber *members;     /* of a root, under its latch */
} fi_cancel;

/* [fiber] Whose cancellation reaches the tasks that it spawns; NULL: nobody's, as nobody can cancel it. */
fi_fiber *fi_cancel_root(const fi_fiber *f);

/* [fiber] It runs a stolen task from now on; not any more.  root: of the spawner, NULL: it has none. */
void fi_cancel_join(fi_fiber *f, fi_fiber *root);
void fi_cancel_leave(fi_fiber *f);

/* [who has pinned it] Cancel the fiber and its members. */
void fi_cancel_all(fi_fiber *root);

/* [fiber] Neither its root nor any member is cancelled any more. */
void fi_cancel_undo(fi_fiber *f);

#endif
