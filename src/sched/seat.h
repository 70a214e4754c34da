/* What a thread brings to the worker that it runs.  A worker's own thread keeps its seat as long as the runtime
 * runs; a guest takes place for one task, while that thread sleeps (sched/guest.h). */
#ifndef FI_SCHED_SEAT_H
#define FI_SCHED_SEAT_H

#include "base/atomic.h"
#include "ctx/ctx.h"
#include "sched/cxx.h"
#include "sched/runnable.h"
#include "stack/overflow.h"

#include <stdbool.h>

#define FI_SEAT_STRAIGHT 15u

typedef struct fi_seat {
    fi_ctx home; /* the thread's own stack, where it chooses what to run */
    fi_cxx cxx_home;
    fi_cxx *cxx; /* where the thread keeps the state of C++ */
    fi_overflow_handler *watch;
    bool watched;               /* without it an overflow is a bare SIGSEGV: no reason not to run */
    FI_ATOMIC(uint32_t) * over; /* not 0: the thread is to leave */
    bool is_guest;
    uint32_t straight; /* so many looks in a row may be on fibers' stacks; a guest's none */
    int clock;         /* of the thread (sched/thread_time.h); 0: not needed */
    fi_fiber *root;    /* of a guest: what it has come to run */
} fi_seat;

/* [the thread] The watch is the worker's, and keeps its memory for who comes next. */
void fi_seat_init(fi_seat *s, fi_overflow_handler *watch, FI_ATOMIC(uint32_t) * over);
void fi_seat_fini(fi_seat *s);

/* [the thread] Is it time to leave? */
static inline bool fi_seat_is_over(const fi_seat *s)
{
    return fi_load_relaxed(s->over) != 0;
}

#endif
