/* A heap of timers behind a lock.  The deadline of the first timer is also an atomic word, which
 * workers read whenever they look for work, and which limits their sleep.
 *
 * A timer is in its user's memory, mostly on a stack, each on another page.  So the heap does not
 * touch timers while it sorts: its entries have the deadline, and the index of a slot in a table
 * that points to the timer.  Removing a timer clears its slot.  The entry stays in the heap until
 * its deadline, or until more than half of the entries, or all, are removed ones.  So the deadline
 * of the first entry may be that of a removed timer.  Before a sleep such entries are dropped, so a
 * sleeper wakes too early at most once, for a timer that is removed while it sleeps. */
#ifndef FI_BASE_TIMER_HEAP_H
#define FI_BASE_TIMER_HEAP_H

#include "base/atomic.h"
#include "base/lock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FI_TIMER_NEVER INT64_MAX

typedef struct fi_timer fi_timer;
typedef struct fi_timer_heap fi_timer_heap;
struct fi_timer {
    int64_t deadline_ns;
    void (*fire)(fi_timer *t); /* called without a lock, by the thread that finds it due */
    fi_timer_heap *heap;       /* that it is or was in */
    uint32_t index;            /* of its slot, plus 1; 0: not in the heap.  Protected by the lock */
    FI_ATOMIC(uint32_t) state; /* 0, FIRING (out of the heap, fire() not finished), FIRED */
    fi_timer *next_due;        /* in the list of the thread that fires it */
};

typedef struct fi_timer_entry {
    int64_t deadline_ns;
    uint32_t index; /* of the slot */
} fi_timer_entry;

typedef union fi_timer_slot {
    fi_timer *timer;     /* NULL: removed, but the heap still has its entry */
    uintptr_t next_free; /* of a free slot: the next free index, plus 1; 0: none */
} fi_timer_slot;

struct fi_timer_heap {
    fi_lock lock;
    fi_timer_entry *heap; /* 4-ary, the earliest first */
    fi_timer_slot *slots;
    uint32_t n, removed, capacity; /* entries; removed entries; of both arrays */
    uint32_t reserved;             /* timers that can be added without memory */
    uint32_t free_index;           /* of the first free slot, plus 1; 0: none */
    FI_ATOMIC(int64_t) next_ns;    /* deadline of the first entry; written under the lock */
};

/* [any] */
void fi_timer_heap_init(fi_timer_heap *ts);
void fi_timer_heap_fini(fi_timer_heap *ts);

/* [any] No timer has an earlier deadline.  FI_TIMER_NEVER: there is none. */
static inline int64_t fi_timer_heap_next(fi_timer_heap *ts)
{
    return fi_load_relaxed(&ts->next_ns);
}

/* [any] Drop the removed timers before the first one, and return its deadline. */
int64_t fi_timer_heap_first_live(fi_timer_heap *ts);

/* [any] Add a timer with deadline_ns and fire set, and zeros otherwise.  Returns 1: it is the first
 * entry now, so a sleeper may sleep too long; 0: it is not; -ENOMEM. */
int fi_timer_heap_add(fi_timer_heap *ts, fi_timer *t);

/* [any] Reserve memory for one timer that is added again and again, and release it.
 * Returns: 0 or -ENOMEM. */
int fi_timer_heap_reserve(fi_timer_heap *ts);
void fi_timer_heap_unreserve(fi_timer_heap *ts);

/* [party with a reservation, whose timer is not in the heap] Add it to the heap t->heap, which has
 * the reservation.  Returns: 1 or 0, as fi_timer_heap_add. */
int fi_timer_heap_add_reserved(fi_timer *t);

/* [any, but not from its fire()] Remove a timer from the heap t->heap.  After the return fire()
 * does not run.  True: it did not fire.  False: fire() has run and has returned. */
bool fi_timer_heap_remove(fi_timer *t);

/* [any] Fire all timers with a deadline of at most now_ns. */
void fi_timer_heap_fire(fi_timer_heap *ts, int64_t now_ns);

#endif
