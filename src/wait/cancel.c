/* Cancelling scopes and fibers. */
#include "wait/cancel.h"

#include "sched/worker.h"
#include "wait/cancel_list.h"
#include "wait/waitq.h"

#include <stddef.h>

static FI_ATOMIC(uint64_t) newest_number;
FI_ATOMIC(uint32_t) fi_cancel_n_cancelled;

/* In the child of a fork() the thread that held a lock may not exist, and no other fiber runs. */
static bool is_in_fork_child(const fi_fiber *f)
{
    return f->worker->runtime->in_fork_child;
}

/* The group or job whose work the fiber does; NULL: none. */
static fi_cancel_scope *group_of(const fi_fiber *f)
{
    return f->cancel.job ? f->cancel.job : f->deferred.group;
}

/* ---- cancel ---- */

bool fi_cancel_is_cancelled_slow(fi_cancel_scope *s)
{
    return fi_cancel_list_newest(s) != 0;
}

static uint64_t next_number(void)
{
    return fi_fetch_add_relaxed(&newest_number, UINT64_C(1)) + 1;
}

/* It is counted before it is cancelled. */
bool fi_cancel_begin(fi_cancel_scope *s)
{
    uint64_t none = 0;

    if (fi_load_relaxed(&s->cancelled) != 0)
        return false;
    fi_fetch_add_relaxed(&fi_cancel_n_cancelled, 1u);
    if (fi_cas_relaxed(&s->cancelled, &none, next_number()))
        return true;
    fi_fetch_add_relaxed(&fi_cancel_n_cancelled, UINT32_MAX);
    return false;
}

void fi_cancel_end_slow(fi_cancel_scope *s)
{
    fi_store_relaxed(&s->cancelled, UINT64_C(0));
    fi_fetch_add_relaxed(&fi_cancel_n_cancelled, UINT32_MAX);
}

/* [holder of their pins] One fence for all of them: it costs about a microsecond. */
static void end_waits(fi_fiber **batch, unsigned n)
{
    if (n == 0)
        return;
    fi_fiber_pin_fence();
    for (unsigned i = 0; i < n; i++)
        fi_fiber_prefetch_pinned_wait(batch[i]);
    for (unsigned i = 0; i < n; i++) {
        fi_fiber_end_pinned_wait(batch[i]);
        fi_fiber_unpin(batch[i]);
    }
}

void fi_cancel_interrupt(fi_cancel_scope *s)
{
    uint32_t visit = fi_cancel_walk_begin(s);
    fi_fiber *batch[FI_CANCEL_BATCH];
    bool more;

    do {
        unsigned n = 0;
        more = fi_cancel_walk(s, visit, batch, &n);
        end_waits(batch, n);
    } while (more);
}

/* ---- attach ---- */

void fi_cancel_attach(fi_cancel_scope *child)
{
    if (fi_cancel_list_attach(child) && fi_cancel_list_newest(child) > 0)
        fi_cancel_interrupt(child);
}

/* ---- the fiber ---- */

/* A cancellation through the handle of the fiber ends with the handle.  What the work ignored may
 * reach the next work: the scope of that may have been cancelled earlier.  The fiber leaves the list
 * of tasks first, because fi_cancel_undo enters the fibers of that list in the list of their group. */
static void cancel_leave(fi_fiber *f)
{
    fi_cancel_scope *tasks = &f->cancel.tasks;
    bool by_handle;

    fi_cancel_node_leave(&f->cancel.in_tasks);
    fi_cancel_node_leave(&f->cancel.in_group);
    fi_fiber_wait_unpinned(f);
    fi_store_relaxed(&f->cancel.ignored, UINT64_C(0));
    fi_lock_lock(&tasks->lock); /* a handle may be cancelled meanwhile */
    by_handle = fi_load_relaxed(&tasks->cancelled) != 0;
    fi_cancel_state_change(f, by_handle ? 0 : FI_CANCEL_DONE, FI_CANCEL_OUTSIDE);
    fi_lock_unlock(&tasks->lock);
}

static void cancel_at_end(fi_at_end *at_end, fi_fiber *f)
{
    (void)at_end;
    if (!is_in_fork_child(f))
        cancel_leave(f);
}

/* A stolen task leaves before it ends, because its root may end then.  Other work leaves at the end
 * of the fiber's work. */
uint32_t fi_cancel_enter(fi_fiber *f)
{
    fi_cancel_scope *group = group_of(fi_cancel_worker_of(f));

    fi_cancel_state_change(f, FI_CANCEL_OUTSIDE, 0);
    if (f->cancel.root) {
        fi_cancel_node_enter(&f->cancel.in_tasks, f, &f->cancel.root->cancel.tasks);
    } else {
        f->cancel.at_end.end = cancel_at_end;
        fi_fiber_end_last(f, &f->cancel.at_end);
    }
    if (group)
        fi_cancel_node_enter(&f->cancel.in_group, f, group);
    return fi_load_relaxed(&f->cancel_state);
}

bool fi_cancel_check(fi_fiber *f)
{
    uint32_t state = fi_load_relaxed(&f->cancel_state);

    if ((state & FI_CANCEL_OUTSIDE) && !is_in_fork_child(f))
        state = fi_cancel_enter(f);
    return state & FI_CANCEL_DONE;
}

/* ---- undo ---- */

/* [locks of root's tasks and of the list of its group held] A walk has removed a cancelled fiber from
 * the list.  Fibers that have not waited yet enter it later.  list NULL: there is no group. */
static void fiber_uncancel(fi_fiber *f, fi_cancel_scope *list, fi_cancel_scope *group)
{
    uint32_t state = fi_cancel_state_change(f, FI_CANCEL_DONE, 0);

    if (list && !(state & FI_CANCEL_OUTSIDE))
        fi_cancel_node_insert(list, &f->cancel.in_group, f, group);
}

static void root_uncancel(fi_fiber *root, fi_cancel_scope *list, fi_cancel_scope *group)
{
    fi_cancel_node *first = root->cancel.tasks.first, *n = first;

    if (group)
        fi_store_relaxed(&root->cancel.ignored, fi_cancel_list_newest(group));
    fi_store_relaxed(&root->cancel.tasks.cancelled, UINT64_C(0));
    fiber_uncancel(root, list, group);
    if (n)
        do {
            fiber_uncancel(n->fiber, list, group);
            n = n->next;
        } while (n != first);
}

/* Returns: f, the root or a fiber in its list, was cancelled.  Of several fibers that call this at
 * the same time, one gets true.  Under both locks, so that a walk of the group has either marked a
 * fiber before, or sees that the cancellation is ignored. */
static bool tasks_uncancel(fi_fiber *root, const fi_fiber *f, fi_cancel_scope *group)
{
    fi_cancel_scope *list;
    bool was_cancelled;

    fi_lock_lock(&root->cancel.tasks.lock);
    list = group ? fi_cancel_list_lock(group) : NULL;
    was_cancelled = fi_load_relaxed(&f->cancel_state) & FI_CANCEL_DONE;
    root_uncancel(root, list, group);
    if (list)
        fi_lock_unlock(&list->lock);
    fi_lock_unlock(&root->cancel.tasks.lock);
    return was_cancelled;
}

/* A canceller may have marked the fiber, and not ended its wait yet.  It must not end a later one.
 * A stolen task may also have been cancelled through a handle of its own (filch_fiber_self). */
bool fi_cancel_undo(fi_fiber *f)
{
    fi_fiber *root = fi_cancel_worker_of(f);
    bool was_cancelled;

    if (is_in_fork_child(f)) {
        fi_cancel_state_change(f, FI_CANCEL_DONE, 0);
        return true;
    }
    was_cancelled = tasks_uncancel(root, f, group_of(root));
    if (f != root)
        was_cancelled |= tasks_uncancel(f, f, NULL);
    fi_fiber_wait_unpinned(f);
    return was_cancelled;
}

/* ---- handles ---- */

void fi_cancel_set(fi_fiber *f)
{
    fi_lock_lock(&f->cancel.tasks.lock);
    fi_store_relaxed(&f->cancel.tasks.cancelled, next_number());
    fi_cancel_state_change(f, 0, FI_CANCEL_DONE);
    fi_lock_unlock(&f->cancel.tasks.lock);
}

void fi_cancel_clear_slow(fi_fiber *f)
{
    fi_store_relaxed(&f->cancel.tasks.cancelled, UINT64_C(0));
    fi_cancel_state_change(f, FI_CANCEL_DONE, 0);
}

void fi_cancel_fiber(fi_fiber *f)
{
    fi_cancel_set(f);
    fi_fiber_pin_fence();
    fi_fiber_end_pinned_wait(f);
    fi_cancel_interrupt(&f->cancel.tasks);
}

/* ---- stolen tasks ---- */

fi_fiber *fi_cancel_root(const fi_fiber *f)
{
    if (f->cancel.root)
        return f->cancel.root;
    return f->handle || group_of(f) ? (fi_fiber *)(uintptr_t)f : NULL;
}

void fi_cancel_begin_task(fi_fiber *f, fi_fiber *root)
{
    if (root)
        f->cancel.root = root;
}

void fi_cancel_after_task(fi_fiber *f)
{
    if (FI_UNLIKELY(fi_load_relaxed(&f->cancel.ignored)))
        (void)fi_cancel_check(f);
}

void fi_cancel_end_task(fi_fiber *f)
{
    if (!f->cancel.root || is_in_fork_child(f))
        return;
    if (!(fi_load_relaxed(&f->cancel_state) & FI_CANCEL_OUTSIDE))
        cancel_leave(f);
    f->cancel.root = NULL;
}
