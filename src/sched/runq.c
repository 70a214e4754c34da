#include "sched/runq.h"

bool fi_runq_push_next_slow(fi_runq *q, uint32_t lock_id, fi_runnable *r)
{
    bool displaced;

    fi_biased_lock_lock_slow(&q->lock, lock_id);
    displaced = fi_runq_set_next(q, r);
    fi_biased_lock_unlock(&q->lock, lock_id);
    return displaced;
}

fi_runnable *fi_runq_pop_slow(fi_runq *q, uint32_t lock_id)
{
    fi_runnable *r;

    fi_biased_lock_lock_slow(&q->lock, lock_id);
    r = fi_runq_take_counted(q);
    fi_biased_lock_unlock(&q->lock, lock_id);
    return r;
}

fi_runnable *fi_runq_pop_fifo(fi_runq *q, uint32_t lock_id)
{
    fi_runnable *r;

    if (fi_load_relaxed(&q->n) == 0)
        return NULL;
    fi_biased_lock_lock(&q->lock, lock_id);
    r = fi_runq_take_first(q);
    if (r)
        fi_runq_change(q, 0u - 1u);
    else
        r = fi_runq_take_counted(q);
    fi_biased_lock_unlock(&q->lock, lock_id);
    return r;
}

fi_runnable *fi_runq_peek(fi_runq *q, uint32_t lock_id, unsigned n)
{
    fi_runnable *r;

    if (fi_load_relaxed(&q->n) <= n)
        return NULL;
    fi_biased_lock_lock(&q->lock, lock_id);
    r = q->first;
    while (r && n-- > 0)
        r = r->next;
    if (r && r->run)
        r = NULL;
    fi_biased_lock_unlock(&q->lock, lock_id);
    return r;
}

/* [lock held] Remove the first n of the FIFO, as a list. */
static fi_runnable *fifo_cut(fi_runq *q, uint32_t n)
{
    fi_runnable *list = q->first, *last = list;

    for (uint32_t i = 1; i < n; i++)
        last = last->next;
    q->first = last->next;
    last->next = NULL;
    return list;
}

uint32_t fi_runq_steal(fi_runq *q, uint32_t lock_id, uint32_t max, bool next_too,
                       fi_runnable **list)
{
    uint32_t n_fifo, n;

    fi_biased_lock_lock_slow(&q->lock, FI_LOCK_ID_NONE); /* the thief must not get the bias */
    n_fifo = fi_load_relaxed(&q->n) - (q->next ? 1u : 0u);
    n = n_fifo - n_fifo / 2;
    if (n > max)
        n = max;
    if (n > 0) {
        *list = fifo_cut(q, n);
    } else if (next_too && q->next) {
        *list = fi_runq_take_next(q);
        (*list)->next = NULL;
        fi_store_relaxed(&q->next_streak, 0u);
        n = 1;
    }
    fi_runq_change(q, 0u - n);
    fi_biased_lock_unlock(&q->lock, lock_id);
    return n;
}
