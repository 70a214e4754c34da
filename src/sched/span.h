/* How long a program would take with as many workers as one likes: its longest chain of work of which each piece had to
 * wait for the one before.  For filch scale (observe/scale.c); off, it is a test here and there, and none where tasks are
 * spawned.
 *
 * What runs has a path: the length of the longest chain that ends where it is.  It grows with the time that runs, and is
 * handed on:
 *
 *     a task is spawned           it begins with the path of who spawns it
 *     a task is synced            who syncs goes on with the longer of the two
 *     work is given               it begins with the path of who gives it, or of the last that it had to come after
 *     a fiber is made ready       it goes on with the longer of its own and that of who makes it ready
 *     a job, a fiber, a piece     whoever waits for it goes on with the longer of its own and that of what ended; so does
 *     of a group's work ends      whoever waits for several, with the longest
 *
 * What lies in a channel until somebody takes it brings no path with it: there the span may be short, by as much as a
 * channel holds.  Threads that are no workers are taken for one, whose time does not count.  Work that is taken over by another worker is late
 * by some time: the burden.  The burdened path adds it to each piece of work that could have been taken, which is the
 * worst case.
 *
 * All is measured on one worker, which runs one thing at a time; so one book is enough for all.  Each page in it is the path of
 * something that does not run, by its address: a fiber, a task's slot, work that was given, or what is waited for.
 */
#ifndef FI_SCHED_SPAN_H
#define FI_SCHED_SPAN_H

#include "base/atomic.h"
#include "base/compiler.h"
#include "sched/runnable.h"

#include <stdbool.h>
#include <stdint.h>

/* Of the whole program, so far. */
typedef struct fi_span_sums {
    uint64_t work_ticks, span_ticks, burdened_ticks;
    uint64_t spawns; /* tasks */
    uint64_t pieces; /* of work that never ran: jobs, fibers, parts of groups, tasks from outside */
    uint64_t looks;  /* at the clock */
    uint64_t look_ticks; /* that one of them takes; it was taken off what was between two */
} fi_span_sums;

/* [who starts a runtime of one worker, who stops it] */
void fi_span_begin(uint64_t burden_ticks);
void fi_span_end(void);

/* [any, in between] */
void fi_span_read(fi_span_sums *out);

/* [any] Whoever calls hands this on to others: work, or a fiber that is ready. */
void fi_span_inherit(const fi_runnable *r);

/* [any] Whoever calls is done with its part of this; whoever calls has waited for it. */
void fi_span_join(const void *what);
void fi_span_collect(const void *what);

/* [any] Whoever calls goes on with something that a fiber which waits has brought; NULL: a thread. */
void fi_span_merge_fiber(const fi_fiber *f);

/* [any] What is over is a part of this, too. */
void fi_span_merge(const void *from, const void *to);

/* [any] It is as new. */
void fi_span_reset(const void *what);

/* [worker] A fiber goes on, stops. */
void fi_span_arrive(const fi_fiber *f);
void fi_span_depart(const fi_fiber *f);

/* [fiber] A piece of work begins on it, and ends.  In between it may have to say something of an earlier one: nothing is handed on
 * meanwhile. */
void fi_span_begin_work(const fi_runnable *r);
void fi_span_end_work(void);
void fi_span_suspend(bool is_hidden);

/* [fiber] A task was spawned.  It is run here, as if it had been from then on; and is over. */
void fi_span_spawned(const void *slot);
void fi_span_begin_task(const void *slot);
void fi_span_end_task(const void *slot);

/* Tests have one of their own, which goes on when they say so. */
extern uint64_t (*fi_span_clock)(void);

extern FI_ATOMIC(uint32_t) fi_span_on; /* fixed while a runtime runs */
static inline bool fi_span_is_on(void)
{
    return FI_UNLIKELY(fi_load_relaxed(&fi_span_on));
}

/* Nothing depends on it, so model checks leave it out. */
#ifdef FI_ATOMIC_HEADER
#define FI_SPAN(call) ((void)0)
#else
#define FI_SPAN(call)                                                                              \
    do {                                                                                           \
        if (fi_span_is_on())                                                                       \
            fi_span_##call;                                                                        \
    } while (0)
#endif

#endif
