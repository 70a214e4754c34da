/* A pairing heap: a tree in which no child is due before its parent.  To add is one comparison; the work is left to
 * whoever takes the first away, and is a logarithm of their number on average. */
#include "sched/timers.h"

#include <stddef.h>

#define AT_ONCE 64 /* of those that are due */

void fi_timers_init(fi_timers *ts)
{
    fi_lock_init(&ts->lock);
    ts->first = NULL;
    fi_atomic_init(&ts->next_ns, FI_TIMER_NEVER);
}

static void put_at(fi_timer **link, fi_timer *t)
{
    *link = t;
    if (t)
        t->link = link;
}

/* Two trees become one, which is on no list. */
static fi_timer *join(fi_timer *a, fi_timer *b)
{
    fi_timer *first = b->deadline_ns < a->deadline_ns ? b : a;
    fi_timer *other = first == a ? b : a;

    put_at(&other->sibling, first->child);
    put_at(&first->child, other);
    first->sibling = NULL;
    return first;
}

/* Two by two from the front, then one after the other from the back. */
static fi_timer *join_all(fi_timer *list)
{
    fi_timer *pairs = NULL, *all = NULL;

    while (list) {
        fi_timer *a = list, *b = a->sibling;
        list = b ? b->sibling : NULL;
        if (b)
            a = join(a, b);
        a->sibling = pairs;
        pairs = a;
    }
    while (pairs) {
        fi_timer *t = pairs;
        pairs = t->sibling;
        t->sibling = NULL;
        all = all ? join(all, t) : t;
    }
    return all;
}

static void take_out(fi_timers *ts, fi_timer *t)
{
    fi_timer *children = join_all(t->child);

    put_at(t->link, t->sibling);
    t->link = NULL;
    if (!children)
        return;
    put_at(&ts->first, ts->first ? join(ts->first, children) : children);
}

static void note_next(fi_timers *ts)
{
    fi_store_relaxed(&ts->next_ns, ts->first ? ts->first->deadline_ns : FI_TIMER_NEVER);
}

bool fi_timers_add(fi_timers *ts, fi_timer *t)
{
    bool is_first;

    t->child = t->sibling = NULL;
    fi_lock_lock(&ts->lock);
    put_at(&ts->first, ts->first ? join(ts->first, t) : t);
    is_first = ts->first == t;
    note_next(ts);
    fi_lock_unlock(&ts->lock);
    return is_first;
}

/* <- timer.fired: what fire() did last with the timer, before its memory is something else. */
void fi_timers_remove(fi_timers *ts, fi_timer *t)
{
    fi_lock_lock(&ts->lock);
    if (t->link) {
        take_out(ts, t);
        note_next(ts);
    }
    fi_lock_unlock(&ts->lock);
    while (fi_load_acquire(&t->firing, timer.over))
        fi_yield();
}

/* What is due, as a list, but not too much of it at once: others may want the lock. */
static fi_timer *take_due(fi_timers *ts, int64_t now_ns)
{
    fi_timer *due = NULL, **end = &due;

    fi_lock_lock(&ts->lock);
    for (int i = 0; i < AT_ONCE && ts->first && ts->first->deadline_ns <= now_ns; i++) {
        fi_timer *t = ts->first;
        take_out(ts, t);
        fi_store_relaxed(&t->firing, 1u);
        t->sibling = NULL;
        *end = t;
        end = &t->sibling;
    }
    note_next(ts);
    fi_lock_unlock(&ts->lock);
    return due;
}

/* -> timer.over */
void fi_timers_fire(fi_timers *ts, int64_t now_ns)
{
    fi_timer *due;

    while ((due = take_due(ts, now_ns)) != NULL)
        while (due) {
            fi_timer *t = due;
            due = t->sibling;
            t->fire(t);
            fi_store_release(&t->firing, 0u, timer.fired);
        }
}
