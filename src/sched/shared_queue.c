/* A linked list, guarded by a lock. */
#include "sched/shared_queue.h"

void fi_shared_queue_push(fi_shared_queue *q, fi_runnable *r)
{
    r->next = NULL;
    fi_lock_lock(&q->lock);
    if (q->last)
        q->last->next = r;
    else
        q->first = r;
    q->last = r;
    fi_store_relaxed(&q->n, fi_load_relaxed(&q->n) + 1);
    fi_lock_unlock(&q->lock);
}

size_t fi_shared_queue_take(fi_shared_queue *q, size_t n, fi_runnable **list)
{
    size_t got = 0;
    fi_runnable *last = NULL;

    *list = NULL;
    if (fi_shared_queue_size(q) == 0)
        return 0;
    fi_lock_lock(&q->lock);
    for (fi_runnable *r = q->first; r && got < n; r = r->next, got++)
        last = r;
    if (got > 0) {
        *list = q->first;
        q->first = last->next;
        last->next = NULL;
        if (!q->first)
            q->last = NULL;
        fi_store_relaxed(&q->n, fi_load_relaxed(&q->n) - got);
    }
    fi_lock_unlock(&q->lock);
    return got;
}

fi_runnable *fi_shared_queue_pop(fi_shared_queue *q)
{
    fi_runnable *r;

    fi_shared_queue_take(q, 1, &r);
    return r;
}
