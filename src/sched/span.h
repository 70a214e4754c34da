/* The span of a program: the time that it would take with an unlimited number of workers.  That is
 * its longest chain of work in which each piece had to wait for the one before.  For filch scale
 * (observe/scale.c).  When it is off, it costs a test at each hook, and nothing where tasks are
 * spawned.
 *
 * Each thing that runs has a path length: the length of the longest chain that ends at this point.
 * It grows with the running time, and is passed on:
 *
 *     a task is spawned           the task begins with the path of its spawner
 *     a task is synced            the fiber that syncs continues with the longer of the two
 *     work is submitted           it begins with the path of the submitter or the last dependency
 *     a fiber is made ready       it continues with the longer of its own and the waker's path
 *     a job, a fiber, a piece     its waiter continues with the longer of its own path and that of
 *     of group work ends          the ended work; a waiter for several, with the longest
 *
 * A value in the buffer of a channel does not carry a path.  There the measured span may be too
 * short, by as much work as the buffer holds.  All threads that are not workers are treated as one,
 * whose time does not count.  Work that another worker takes starts later by some time, the burden.
 * The burdened path adds it to each piece of work that could have been taken, which is the worst
 * case.
 *
 * All is measured on one worker, which runs one thing at a time, so one table is enough.  Each
 * entry is the path of a thing that does not run at the moment, by its address: a fiber, a task
 * slot, submitted work, or an object that others wait for.
 */
#ifndef FI_SCHED_SPAN_H
#define FI_SCHED_SPAN_H

#include "base/atomic.h"
#include "base/compiler.h"
#include "sched/runnable.h"

#include <stdbool.h>
#include <stdint.h>

/* The sums of the whole program, so far. */
typedef struct fi_span_sums {
    uint64_t work_ticks, span_ticks, burdened_ticks;
    uint64_t spawns; /* tasks */
    uint64_t pieces; /* of unstarted work: jobs, fibers, parts of groups, external tasks */
    uint64_t clock_reads;
    uint64_t clock_read_ticks; /* cost of one read, which is subtracted from each interval */
} fi_span_sums;

/* [the thread that starts a runtime of one worker; the thread that stops it] */
int fi_span_start(uint64_t burden_ticks);
void fi_span_stop(void);

/* [any, between the two] */
void fi_span_read(fi_span_sums *out);

/* [any] The caller passes its path to r: work, or a fiber that it made ready. */
void fi_span_inherit(const fi_runnable *r);

/* [any] fi_span_join: the caller has ended its part of the object.
 * fi_span_collect: the caller has waited for the object. */
void fi_span_join(const void *object);
void fi_span_collect(const void *object);

/* [any] The caller continues with a value that a waiting fiber has brought; NULL: a thread has
 * brought it. */
void fi_span_merge_fiber(const fi_fiber *f);

/* [any] The object `from` has ended, and is a part of the object `to`. */
void fi_span_merge(const void *from, const void *to);

/* [any] Remove the path of the object. */
void fi_span_reset(const void *object);

/* [worker] A fiber starts to run; it stops. */
void fi_span_enter_fiber(const fi_fiber *f);
void fi_span_leave_fiber(const fi_fiber *f);

/* [fiber] A piece of work begins on the fiber; it ends.
 * fi_span_suspend: between the two the fiber may have to complete an earlier piece of work.
 * Nothing is passed on meanwhile. */
void fi_span_begin_work(const fi_runnable *r);
void fi_span_end_work(void);
void fi_span_suspend(bool is_suspended);

/* [fiber] A task was spawned.  It is run here, with the path that it had at the spawn.  It has
 * ended. */
void fi_span_spawned(const void *slot);
void fi_span_begin_task(const void *slot);
void fi_span_end_task(const void *slot);

/* Tests replace it by a clock that they advance. */
extern uint64_t (*fi_span_clock)(void);

/* Fixed while a runtime runs. */
extern FI_ATOMIC(uint32_t) fi_span_on __attribute__((visibility("hidden")));
static inline bool fi_span_is_on(void)
{
    return FI_UNLIKELY(fi_load_relaxed(&fi_span_on));
}

/* Nothing depends on the span, so model checks leave it out. */
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
