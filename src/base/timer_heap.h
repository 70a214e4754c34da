/* What is to be done at a certain time.  Timers are in their users' memory, and known to a heap that everybody may use
 * behind a lock; the time of the first is a word that everybody may look at.
 *
 * Workers look at it whenever they look for work, and do not sleep beyond it.
 *
 * Timers mostly stand on stacks, each on a page of its own.  So the heap does not go there: it has the deadlines, side by
 * side, and numbers of places in a table that lead to the timers.  One that is removed leaves its place empty, and its
 * entry in the heap until that comes up, or too many are like it. */
#ifndef FI_BASE_TIMER_HEAP_H
#define FI_BASE_TIMER_HEAP_H

#include "base/atomic.h"
#include "base/lock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FI_TIMER_NEVER INT64_MAX

typedef struct fi_timer fi_timer;
struct fi_timer {
    int64_t deadline_ns;
    void (*fire)(fi_timer *t); /* called by who finds it due; without a lock */
    uint32_t place;            /* in the table, plus 1; 0: in none.  Under the lock */
    fi_timer *next_due;        /* in the list of who does */
    FI_ATOMIC(uint32_t) fired; /* it is out of the heap, and fire() is to come; and is over */
};

typedef struct fi_timer_entry {
    int64_t deadline_ns;
    uint32_t place;
} fi_timer_entry;

/* Who stands there, or the next that is empty. */
typedef union fi_timer_place {
    fi_timer *timer; /* NULL: it was removed, but the heap still has its entry */
    uintptr_t next_empty;
} fi_timer_place;

typedef struct fi_timer_heap {
    fi_lock lock;
    fi_timer_entry *
        heap; /* from 0; of four children each none is due before its parent; the first is not removed */
    fi_timer_place *places;
    uint32_t n, removed,
        capacity;   /* entries, those of them that were removed, and room for both arrays */
    uint32_t empty; /* the first empty place, plus 1; 0: none */
    FI_ATOMIC(int64_t) next_ns; /* when the first is due; written under the lock */
} fi_timer_heap;

/* [any] */
void fi_timer_heap_init(fi_timer_heap *ts);
void fi_timer_heap_fini(fi_timer_heap *ts);

/* [any] When the next is due; FI_TIMER_NEVER: there is none. */
static inline int64_t fi_timer_heap_next(fi_timer_heap *ts)
{
    return fi_load_relaxed(&ts->next_ns);
}

/* [any] deadline_ns and fire are set, the rest is zero.  1: it is the first now, and who sleeps may sleep too long; 0; -ENOMEM. */
int fi_timer_heap_add(fi_timer_heap *ts, fi_timer *t);

/* [any but from its fire()] After this it does not fire, if it has not; and fire() is over, if it has.
 * True: it has not. */
bool fi_timer_heap_remove(fi_timer_heap *ts, fi_timer *t);

/* [any] Fire what is due by then. */
void fi_timer_heap_fire(fi_timer_heap *ts, int64_t now_ns);

#endif
