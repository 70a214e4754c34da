/* The lists of scopes: see cancel.h.
 *
 * A walk removes each fiber that it cancels from the list of its group.  So the fiber leaves without
 * the lock at the end of its work.  filch_fiber_uncancel enters it again.
 *
 * Walks of a list have increasing numbers.  A fiber that was visited and not cancelled goes to the
 * back of the list, with the number of the newest walk.  So a walk may release the lock between two
 * fibers, and ends when the first fiber has its number or a newer one.  A visit delivers every
 * cancellation that reaches the fiber, also those of other walks. */
#ifndef FI_WAIT_CANCEL_LIST_H
#define FI_WAIT_CANCEL_LIST_H

#include "sched/fiber.h"
#include "sched/fiber_pin.h"
#include "wait/cancel.h"

#include <stdbool.h>
#include <stddef.h>

#define FI_CANCEL_BATCH  256 /* fibers that a walk pins at a time */
#define FI_CANCEL_VISITS 512 /* fibers that a walk visits at a time */

/* ---- the state of a fiber ---- */

/* [any that keeps the fiber] Relaxed: the lock of a list or the fences of a pin order it. */
static inline uint32_t fi_cancel_state_change(fi_fiber *f, uint32_t clear, uint32_t set)
{
    uint32_t seen = fi_load_relaxed(&f->cancel_state);

    while (((seen & ~clear) | set) != seen &&
           !fi_cas_relaxed(&f->cancel_state, &seen, (seen & ~clear) | set))
        continue;
    return (seen & ~clear) | set;
}

/* ---- the tree of scopes ---- */

/* [any that keeps the scope] NULL: it is the outermost.  <- cancel.attach */
static inline fi_cancel_scope *fi_cancel_parent(fi_cancel_scope *s)
{
    return fi_load_acquire(&s->parent, cancel.parent);
}

static inline uint64_t fi_cancel_list_newest(fi_cancel_scope *s)
{
    uint64_t newest = fi_load_relaxed(&s->cancelled);

    if (fi_load_relaxed(&fi_cancel_n_cancelled) == 0)
        return newest;
    while ((s = fi_cancel_parent(s)) != NULL) {
        uint64_t number = fi_load_relaxed(&s->cancelled);
        newest = number > newest ? number : newest;
    }
    return newest;
}

/* [any that keeps the scope] An ancestor: the parent, or one that a search has found; NULL: none.
 * cancel.set_outer -> cancel.outer: the ancestor is initialised. */
static inline fi_cancel_scope *fi_cancel_ancestor(fi_cancel_scope *s)
{
    fi_cancel_scope *outer = fi_load_acquire(&s->outer, cancel.outer);

    return outer ? outer : fi_cancel_parent(s);
}

/* [any that keeps the scope] The outermost scope, unless it is attached meanwhile.  Each search makes
 * scopes point further out, so a search is short, however deep the tree is. */
static inline fi_cancel_scope *fi_cancel_outermost(fi_cancel_scope *s)
{
    fi_cancel_scope *ancestor, *next;

    while ((ancestor = fi_cancel_ancestor(s)) != NULL) {
        next = fi_cancel_ancestor(ancestor);
        if (!next)
            return ancestor;
        fi_store_release(&s->outer, next, cancel.set_outer);
        s = next;
    }
    return s;
}

/* [any that keeps the scope] Lock the outermost scope, whose list has the fibers. */
static inline fi_cancel_scope *fi_cancel_list_lock(fi_cancel_scope *s)
{
    for (;;) {
        fi_cancel_scope *list = fi_cancel_outermost(s);
        fi_lock_lock(&list->lock);
        if (!fi_load_relaxed(&list->parent))
            return list;
        fi_lock_unlock(&list->lock);
    }
}

/* ---- nodes, under the lock of the list ---- */

static inline void fi_cancel_node_link(fi_cancel_scope *list, fi_cancel_node *n)
{
    fi_cancel_node *first = list->first;

    n->visit = list->visit;
    if (!first) {
        list->first = n->next = n->prev = n;
        return;
    }
    n->next = first;
    n->prev = first->prev;
    n->prev->next = first->prev = n;
}

static inline void fi_cancel_node_unlink(fi_cancel_scope *list, const fi_cancel_node *n)
{
    if (n->next == n) {
        list->first = NULL;
        return;
    }
    n->next->prev = n->prev;
    n->prev->next = n->next;
    if (list->first == n)
        list->first = n->next;
}

/* ---- fibers ---- */

/* The fiber whose work f does: itself, or the root of the stolen task that it runs. */
static inline fi_fiber *fi_cancel_worker_of(fi_fiber *f)
{
    return f->cancel.root ? f->cancel.root : f;
}

/* [lock held] Is the fiber to be cancelled with this scope? */
static inline bool fi_cancel_reaches(fi_fiber *f, fi_cancel_scope *s)
{
    return fi_cancel_list_newest(s) > fi_load_relaxed(&fi_cancel_worker_of(f)->cancel.ignored);
}

/* [lock held] Enter the list, unless the fiber is in it. */
static inline void fi_cancel_node_insert(fi_cancel_scope *list, fi_cancel_node *n, fi_fiber *f,
                                         fi_cancel_scope *s)
{
    if (fi_load_relaxed(&n->list))
        return;
    n->fiber = f;
    n->scope = s;
    fi_cancel_node_link(list, n);
    fi_store_relaxed(&n->list, list);
}

/* [fiber] Enter the list of the scope. */
static inline void fi_cancel_node_enter(fi_cancel_node *n, fi_fiber *f, fi_cancel_scope *s)
{
    fi_cancel_scope *list = fi_cancel_list_lock(s);

    fi_cancel_node_insert(list, n, f, s);
    if (!FI_FAULT(cancel.check_entered) && fi_cancel_reaches(f, s))
        fi_cancel_state_change(f, 0, FI_CANCEL_DONE);
    fi_lock_unlock(&list->lock);
}

/* [fiber] Leave the list, if it is in one.  A node may move to the list of a parent meanwhile.
 * <- cancel.remove: the fiber was removed by a walk, and sees its pin. */
static inline void fi_cancel_node_leave(fi_cancel_node *n)
{
    fi_cancel_scope *list;

    while ((list = fi_load_acquire(&n->list, cancel.leave)) != NULL) {
        fi_lock_lock(&list->lock);
        if (fi_load_relaxed(&n->list) == list) {
            fi_cancel_node_unlink(list, n);
            fi_store_relaxed(&n->list, NULL);
        }
        fi_lock_unlock(&list->lock);
    }
}

/* ---- attach ---- */

/* [locks of both held] A node that moves is always in a list: else its fiber would leave. */
static inline void fi_cancel_list_move(fi_cancel_scope *from, fi_cancel_scope *to)
{
    while (from->first) {
        fi_cancel_node *n = from->first;
        fi_cancel_node_unlink(from, n);
        fi_cancel_node_link(to, n);
        if (FI_FAULT(cancel.move_keeps))
            fi_store_relaxed(&n->list, NULL);
        fi_store_relaxed(&n->list, to);
    }
}

/* [any that keeps the scope] Move the fibers of a scope that has got a parent.  Locks are taken from
 * the child to the parent.
 * Returns: false: there were no fibers.  Those that enter later see the scopes around it. */
static inline bool fi_cancel_list_attach(fi_cancel_scope *child)
{
    fi_cancel_scope *list = NULL;

    fi_lock_lock(&child->lock);
    if (child->first) {
        list = fi_cancel_list_lock(fi_cancel_parent(child));
        fi_cancel_list_move(child, list);
        fi_lock_unlock(&list->lock);
    }
    fi_lock_unlock(&child->lock);
    return list != NULL;
}

/* ---- walks ---- */

/* [any that keeps the scope] Begin a walk.  Returns: its number in this list. */
static inline uint32_t fi_cancel_walk_begin(fi_cancel_scope *s)
{
    fi_cancel_scope *list = fi_cancel_list_lock(s);
    uint32_t visit = ++list->visit;

    fi_lock_unlock(&list->lock);
    return visit;
}

/* [lock held] The fiber of the first node is cancelled.  It leaves the list of its group.  It stays
 * in the list of tasks, where filch_fiber_uncancel finds it.
 * Returns: the fiber was pinned, and the caller ends its wait; NULL: it was cancelled before.
 * -> cancel.leave: the pin. */
static inline fi_fiber *fi_cancel_visit_cancelled(fi_cancel_scope *list, fi_cancel_node *n)
{
    fi_fiber *f = n->fiber;
    bool is_first = !(fi_load_relaxed(&f->cancel_state) & FI_CANCEL_DONE);

    if (is_first) {
        if (!FI_FAULT(cancel.visit_pins))
            fi_fiber_pin(f);
        fi_cancel_state_change(f, 0, FI_CANCEL_DONE);
    }
    if (n == &f->cancel.in_group) {
        fi_cancel_node_unlink(list, n);
        fi_store_release(&n->list, NULL, cancel.remove);
    }
    return is_first ? f : NULL;
}

/* [lock held] Visit the first fiber.  Returns: it was pinned, and the caller ends its wait; NULL:
 * nothing to do. */
static inline fi_fiber *fi_cancel_visit_first(fi_cancel_scope *list)
{
    fi_cancel_node *n = list->first;

    n->visit = list->visit;
    list->first = n->next;
    return fi_cancel_reaches(n->fiber, n->scope) ? fi_cancel_visit_cancelled(list, n) : NULL;
}

/* [the walk] Visit more fibers, and append those whose waits must end to the batch of n fibers.
 * Returns: true: there are more. */
static inline bool fi_cancel_walk(fi_cancel_scope *s, uint32_t visit, fi_fiber **batch, unsigned *n)
{
    fi_cancel_scope *list = fi_cancel_list_lock(s);
    bool more = true;

    for (unsigned i = 0; i < FI_CANCEL_VISITS && *n < FI_CANCEL_BATCH; i++) {
        fi_cancel_node *first = list->first;
        more = first && (int32_t)(first->visit - visit) < 0;
        if (!more)
            break;
        batch[*n] = fi_cancel_visit_first(list);
        *n += batch[*n] != NULL;
    }
    fi_lock_unlock(&list->lock);
    return more;
}

#endif
