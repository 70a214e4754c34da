/* Cancelling a root and its members. */
#include "wait/cancel.h"

#include "sched/worker.h"
#include "wait/waitq.h"

#include <stddef.h>

/* In the child of a fork() the thread that held a lock may not exist, and no other fiber runs. */
static bool is_in_fork_child(const fi_fiber *f)
{
    return f->worker->runtime->in_fork_child;
}

fi_fiber *fi_cancel_root(const fi_fiber *f)
{
    if (f->cancel.root)
        return f->cancel.root;
    return f->handle ? (fi_fiber *)(uintptr_t)f : NULL;
}

/* ---- members ---- */

static void cancel_link(fi_fiber *root, fi_fiber *f)
{
    f->cancel.prev = NULL;
    f->cancel.next = root->cancel.members;
    if (f->cancel.next)
        f->cancel.next->cancel.prev = f;
    root->cancel.members = f;
}

static void cancel_unlink(fi_fiber *root, fi_fiber *f)
{
    if (f->cancel.prev)
        f->cancel.prev->cancel.next = f->cancel.next;
    else
        root->cancel.members = f->cancel.next;
    if (f->cancel.next)
        f->cancel.next->cancel.prev = f->cancel.prev;
}

void fi_cancel_join(fi_fiber *f, fi_fiber *root)
{
    if (!root)
        return;
    f->cancel.root = root;
    fi_obj_lock_second(&root->cancel.lock);
    cancel_link(root, f);
    fi_store_relaxed(&f->cancelled, fi_load_relaxed(&root->cancelled));
    fi_obj_unlock(&root->cancel.lock);
}

void fi_cancel_leave(fi_fiber *f)
{
    fi_fiber *root = f->cancel.root;

    if (!root || is_in_fork_child(f))
        return;
    f->cancel.root = NULL;
    fi_obj_lock_second(&root->cancel.lock);
    cancel_unlink(root, f);
    fi_store_relaxed(&f->cancelled, 0u);
    fi_obj_unlock(&root->cancel.lock);
}

/* ---- cancel ---- */

/* A member that is woken here cannot leave the list before the lock is released. */
void fi_cancel_all(fi_fiber *root)
{
    fi_obj_lock_second(&root->cancel.lock);
    fi_fiber_cancel_wait(root);
    for (fi_fiber *f = root->cancel.members; f; f = f->cancel.next) {
        fi_fiber_pin(f);
        fi_fiber_cancel_wait(f);
        fi_fiber_unpin(f);
    }
    fi_obj_unlock(&root->cancel.lock);
}

/* An earlier cancellation is complete once this holds the lock, so it does not end later waits of
 * the fiber. */
static void cancel_clear(fi_fiber *root)
{
    fi_obj_lock_second(&root->cancel.lock);
    fi_store_relaxed(&root->cancelled, 0u);
    for (fi_fiber *f = root->cancel.members; f; f = f->cancel.next)
        fi_store_relaxed(&f->cancelled, 0u);
    fi_obj_unlock(&root->cancel.lock);
}

/* A member may also have been cancelled through a handle of its own (filch_fiber_self). */
void fi_cancel_undo(fi_fiber *f)
{
    if (is_in_fork_child(f)) {
        fi_store_relaxed(&f->cancelled, 0u);
        return;
    }
    if (f->cancel.root)
        cancel_clear(f->cancel.root);
    cancel_clear(f);
}
