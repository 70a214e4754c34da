#include "sched/runq.h"

/* [latch held] The first of them, cut off behind the nth. */
static fi_runnable *cut(fi_runq *q, uint32_t n)
{
    fi_runnable *list = q->first, *last = list;

    for (uint32_t i = 1; i < n; i++)
        last = last->next;
    q->first = last->next;
    last->next = NULL;
    return list;
}

uint32_t fi_runq_steal(fi_runq *q, uint32_t who, uint32_t most, bool next_too, fi_runnable **list)
{
    uint32_t in_line, n;

    fi_latch_lock(&q->latch, who);
    in_line = fi_load_relaxed(&q->n) - (q->next ? 1u : 0u);
    n = in_line - in_line / 2;
    if (n > most)
        n = most;
    if (n > 0) {
        *list = cut(q, n);
    } else if (next_too && q->next) {
        *list = fi_runq_take_next(q);
        (*list)->next = NULL;
        fi_store_relaxed(&q->kept, 0u);
        n = 1;
    }
    fi_runq_change(q, 0u - n);
    fi_latch_unlock(&q->latch, who);
    return n;
}
