/* What is to be done at a certain time.  Timers are in their users' memory, in a heap that everybody may use behind a
 * lock; the time of the first is a word that everybody may look at.
 *
 * Workers look at it whenever they look for work, and do not sleep beyond it. */
#ifndef FI_SCHED_TIMERS_H
#define FI_SCHED_TIMERS_H

#include "base/atomic.h"
#include "base/lock.h"

#include <stdbool.h>
#include <stdint.h>

#define FI_TIMER_NEVER INT64_MAX

typedef struct fi_timer fi_timer;
struct fi_timer {
    int64_t deadline_ns;
    void (*fire)(fi_timer *t);  /* called by who finds it due; without a lock */
    FI_ATOMIC(uint32_t) firing; /* from when it is out of the heap until that is over */
    /* In a pairing heap: the first child, the next sibling, and who points here. */
    fi_timer *child, *sibling;
    fi_timer **link; /* NULL: it is not in the heap */
};

typedef struct fi_timers {
    fi_lock lock;
    fi_timer *first;
    FI_ATOMIC(int64_t) next_ns; /* when the first is due; written under the lock */
} fi_timers;

/* [any] */
void fi_timers_init(fi_timers *ts);

/* [any] When the next is due; FI_TIMER_NEVER: there is none. */
static inline int64_t fi_timers_next(fi_timers *ts)
{
    return fi_load_relaxed(&ts->next_ns);
}

/* [any] deadline_ns and fire are set.  True: it is the first now, and who sleeps may sleep too long. */
bool fi_timers_add(fi_timers *ts, fi_timer *t);

/* [any but from its fire()] After this it does not fire, if it has not; and fire() is over, if it has. */
void fi_timers_remove(fi_timers *ts, fi_timer *t);

/* [any] Fire what is due by then. */
void fi_timers_fire(fi_timers *ts, int64_t now_ns);

#endif
