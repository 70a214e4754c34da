#include "sched/cancel.h"

#include "sched/wait.h"
#include "sched/worker.h"

#include <stddef.h>

/* In the child of a fork() the thread that held a latch may not exist, and no other fiber runs. */
static bool is_alone(const fi_fiber *f)
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

static void link_member(fi_fiber *root, fi_fiber *f)
{
    f->cancel.prev = NULL;
    f->cancel.next = root->cancel.members;
    if (f->cancel.next)
        f->cancel.next->cancel.prev = f;
    root->cancel.members = f;
}

static void unlink_member(fi_fiber *root, fi_fiber *f)
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
    fi_hold_also(&root->cancel.latch);
    link_member(root, f);
    fi_store_relaxed(&f->cancelled, fi_load_relaxed(&root->cancelled));
    fi_let_go(&root->cancel.latch);
}

void fi_cancel_leave(fi_fiber *f)
{
    fi_fiber *root = f->cancel.root;

    if (!root || is_alone(f))
        return;
    f->cancel.root = NULL;
    fi_hold_also(&root->cancel.latch);
    unlink_member(root, f);
    fi_store_relaxed(&f->cancelled, 0u);
    fi_let_go(&root->cancel.latch);
}

/* ---- cancel ---- */

/* A member that is woken here cannot leave the list before the latch is released. */
void fi_cancel_all(fi_fiber *root)
{
    fi_hold_also(&root->cancel.latch);
    fi_wait_cancel(root);
    for (fi_fiber *f = root->cancel.members; f; f = f->cancel.next) {
        fi_wait_pin(f);
        fi_wait_cancel(f);
        fi_wait_unpin(f);
    }
    fi_let_go(&root->cancel.latch);
}

/* An earlier cancellation is complete once this holds the latch, so it does not end later waits of
 * the fiber. */
static void undo(fi_fiber *root)
{
    fi_hold_also(&root->cancel.latch);
    fi_store_relaxed(&root->cancelled, 0u);
    for (fi_fiber *f = root->cancel.members; f; f = f->cancel.next)
        fi_store_relaxed(&f->cancelled, 0u);
    fi_let_go(&root->cancel.latch);
}

/* A member may also have been cancelled through a handle of its own (filch_fiber_self). */
void fi_cancel_undo(fi_fiber *f)
{
    if (is_alone(f)) {
        fi_store_relaxed(&f->cancelled, 0u);
        return;
    }
    if (f->cancel.root)
        undo(f->cancel.root);
    undo(f);
}
