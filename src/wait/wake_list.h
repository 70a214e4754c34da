/* Waiters that were removed from their queues under a lock, in FIFO order.  They are woken after
 * the lock is released: the object they waited for may be freed as soon as one of them continues.
 * Zeroed memory is an empty list. */
#ifndef FI_WAIT_WAKE_LIST_H
#define FI_WAIT_WAKE_LIST_H

#include "wait/waitq.h"

#include <stddef.h>

typedef struct fi_wake_list {
    fi_waiter *first, *last;
} fi_wake_list;

/* [lock held] Append a waiter that was removed from its queue. */
static inline void fi_wake_list_append(fi_wake_list *list, fi_waiter *w)
{
    w->next = NULL;
    if (list->last)
        list->last->next = w;
    else
        list->first = w;
    list->last = w;
}

/* [lock held] Move the first waiter of a queue, whose wait then returns result.
 * Returns: false if there is none. */
static inline bool fi_wake_list_take(fi_wake_list *list, fi_waitq *waitq, int result)
{
    fi_waiter *w = waitq->first ? fi_waitq_pop(waitq) : NULL;

    if (!w)
        return false;
    w->result = result;
    fi_wake_list_append(list, w);
    return true;
}

/* [lock held] Move all waiters of a queue.  Returns: their number. */
static inline unsigned fi_wake_list_take_all(fi_wake_list *list, fi_waitq *waitq, int result)
{
    unsigned n = 0;

    while (fi_wake_list_take(list, waitq, result))
        n++;
    return n;
}

/* [lock released] A waiter may be gone as soon as it is woken. */
static inline void fi_wake_list_wake(fi_wake_list list)
{
    while (list.first) {
        fi_waiter *w = list.first;
        list.first = w->next;
        fi_waiter_wake(w);
    }
}

#endif
