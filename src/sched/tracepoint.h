/* Tracepoints of workers and fibers.  Each is a USDT probe.  If the worker has an event ring, it
 * also appends an event, from which observe/trace.c makes a trace.  If the span is measured
 * (sched/span.h), it also updates that.
 *
 * With no observer, a tracepoint is a nop and a test of one word of the worker, which is in the
 * cache anyway.  The rest is in functions that are not called.  There is no tracepoint where
 * private tasks are spawned and synced.
 *
 * An event is four words:
 *     time, in ticks
 *     event (8 bits), work (4), id of the name (16), trace id of the fiber's work (36)
 *     two words that depend on the event
 *
 * The event ring of a worker is written by the thread that runs the worker.  Threads that are not
 * workers share another ring, guarded by a lock.
 */
#ifndef FI_SCHED_TRACEPOINT_H
#define FI_SCHED_TRACEPOINT_H

#include "base/event_ring.h"
#include "sched/worker.h"

/* USDT probes for perf, bpftrace and similar tools.  A probe is a nop and a note in the library
 * with its address and arguments.  docs/observe.md lists them. */
#ifdef FILCH_HAVE_SDT
#include <sys/sdt.h>
#define FI_PROBE(name)           DTRACE_PROBE(filch, name)
#define FI_PROBE1(name, a)       DTRACE_PROBE1(filch, name, a)
#define FI_PROBE2(name, a, b)    DTRACE_PROBE2(filch, name, a, b)
#define FI_PROBE3(name, a, b, c) DTRACE_PROBE3(filch, name, a, b, c)
#else
#define FI_PROBE(name)           ((void)0)
#define FI_PROBE1(name, a)       ((void)(a))
#define FI_PROBE2(name, a, b)    ((void)(a), (void)(b))
#define FI_PROBE3(name, a, b, c) ((void)(a), (void)(b), (void)(c))
#endif

/* In parentheses: the two words. */
typedef enum fi_trace_event {
    FI_TRACE_BEGIN = 1,   /* a fiber begins work (function; run queue size | deque size << 32) */
    FI_TRACE_RUN,         /* it continues (the same) */
    FI_TRACE_STOP,        /* it stops (kind of the wait, a const char *; object) */
    FI_TRACE_END,         /* its work has ended */
    FI_TRACE_NAME,        /* its name has changed */
    FI_TRACE_READY,       /* it is ready (trace id of the waker; external: thread) */
    FI_TRACE_PUBLISH,     /* tasks are published (how many) */
    FI_TRACE_STEAL,       /* work was stolen (from which worker; how many) */
    FI_TRACE_SLEEP,       /* the worker falls asleep */
    FI_TRACE_WOKEN,       /* the worker is awake */
    FI_TRACE_CALLER_RUNS, /* a borrower runs the worker while its own thread sleeps */
    FI_TRACE_CALLER_RUNS_END, /* the borrower has returned the worker */
    FI_TRACE_SEARCH,          /* the worker searches */
    FI_TRACE_SEARCH_END,      /* (1: found work) */
    FI_TRACE_POLL,            /* the poller had events (start of the poll; how many) */
    FI_TRACE_TIMERS,          /* timers are due */
    FI_TRACE_TIMERS_END,      /* they were fired */
    FI_TRACE_BLOCK,           /* external: a blocking thread makes a call (thread; function) */
    FI_TRACE_BLOCK_END,       /* (thread) */
} fi_trace_event;

/* Why a fiber stops. */
typedef enum fi_switch_reason {
    FI_SWITCH_WAIT,  /* it waits for fi_fiber.waiting */
    FI_SWITCH_TASK,  /* it waits for a task that another worker runs */
    FI_SWITCH_YIELD, /* it yields */
    FI_SWITCH_END,   /* its work has ended */
} fi_switch_reason;

/* The second word of an event. */
static inline uint64_t fi_trace_head(fi_trace_event p, const fi_trace_id *t)
{
    return (uint64_t)p | (uint64_t)t->work << 8 | (uint64_t)t->name << 12 | t->id << 28;
}

static inline fi_trace_event fi_trace_event_of_head(uint64_t head)
{
    return (fi_trace_event)(head & 0xff);
}

/* All fields but the function. */
static inline fi_trace_id fi_trace_id_of_head(uint64_t head)
{
    return (fi_trace_id){
        .id = head >> 28, .name = head >> 12 & 0xffff, .work = (fi_work)(head >> 8 & 0xf)};
}

/* ---- recording: tracepoint.c ---- */

/* Not marked cold: the compiler would optimise it for size, not for speed. */
#define FI_TRACE_RECORD __attribute__((noinline)) void
FI_TRACE_RECORD fi_trace_record(fi_worker *w, fi_trace_event p, uint64_t a, uint64_t b);
FI_TRACE_RECORD fi_trace_record_run(fi_worker *w, const fi_fiber *f);
FI_TRACE_RECORD fi_trace_record_switch(fi_worker *w, fi_fiber *f, fi_fiber *to,
                                       fi_switch_reason why);
FI_TRACE_RECORD fi_trace_record_begin(fi_fiber *f, fi_work work, const char *name,
                                      uintptr_t function);
FI_TRACE_RECORD fi_trace_record_end(fi_fiber *f);
FI_TRACE_RECORD fi_trace_record_end_function(fi_fiber *f);
FI_TRACE_RECORD fi_trace_record_work(fi_worker *w, const fi_runnable *work);
FI_TRACE_RECORD fi_trace_record_submit(fi_worker *w, const fi_runnable *work);
FI_TRACE_RECORD fi_trace_record_name(fi_fiber *f, const char *name);
FI_TRACE_RECORD fi_trace_record_ready(fi_worker *w, const fi_fiber *f);
FI_TRACE_RECORD fi_trace_record_external(fi_runtime *rt, fi_trace_event p, const fi_trace_id *t,
                                         uint64_t b);

/* ---- fibers ---- */

/* [worker] The fiber continues on this worker. */
#define FI_TRACE_INLINE static inline __attribute__((always_inline))
FI_TRACE_INLINE void fi_trace_run(fi_worker *w, fi_fiber *f)
{
    FI_PROBE2(run, f, w->index);
    if (FI_UNLIKELY(w->hook_mask))
        fi_trace_record_run(w, f);
}

/* [fiber] It switches to another fiber. */
FI_TRACE_INLINE void fi_trace_switch(fi_worker *w, fi_fiber *f, fi_fiber *to, fi_switch_reason why)
{
    FI_PROBE3(stop, f, w->index, why);
    FI_PROBE2(run, to, w->index);
    if (FI_UNLIKELY(w->hook_mask))
        fi_trace_record_switch(w, f, to, why);
}

/* [fiber] It switches to the scheduler. */
FI_TRACE_INLINE void fi_trace_switch_to_sched(fi_worker *w, fi_fiber *f, fi_switch_reason why)
{
    FI_PROBE3(stop, f, w->index, why);
    if (FI_UNLIKELY(w->hook_mask))
        fi_trace_record_switch(w, f, NULL, why);
}

/* [fiber] It begins work.  name, function: NULL and 0 if there is none. */
static inline void fi_trace_begin(fi_fiber *f, fi_work work, const char *name, uintptr_t function)
{
    FI_PROBE3(begin, f, name, function);
    if (FI_UNLIKELY(f->worker->hook_mask))
        fi_trace_record_begin(f, work, name, function);
}

/* [fiber] It is about to run this work. */
static inline void fi_trace_work(fi_fiber *f, const fi_runnable *work)
{
    if (FI_UNLIKELY(f->worker->hook_mask))
        fi_trace_record_work(f->worker, work);
}

/* [worker] Work is submitted. */
static inline void fi_trace_submit(fi_worker *w, const fi_runnable *work)
{
    if (FI_UNLIKELY(w->hook_mask))
        fi_trace_record_submit(w, work);
}

/* [fiber] Its work has ended. */
static inline void fi_trace_end(fi_fiber *f)
{
    FI_PROBE1(end, f);
    if (FI_UNLIKELY(f->worker->hook_mask))
        fi_trace_record_end(f);
}

/* [fiber] One of several functions has ended, which it runs as one piece of work. */
static inline void fi_trace_end_function(fi_fiber *f)
{
    FI_PROBE1(end, f);
    if (FI_UNLIKELY(f->worker->hook_mask))
        fi_trace_record_end_function(f);
}

/* [fiber] Its name has changed; NULL: none. */
static inline void fi_trace_name(fi_fiber *f, const char *name)
{
    if (FI_UNLIKELY(f->worker->hook_mask))
        fi_trace_record_name(f, name);
}

/* [worker] A parked fiber is ready.  True: the caller must call fi_trace_record_ready, and the
 * fiber may be bound.  That call is not made here, because registers would have to be saved for it
 * on a hot path. */
FI_TRACE_INLINE bool fi_trace_ready(fi_worker *w, fi_fiber *f)
{
    FI_PROBE2(ready, f, w->index);
    return FI_UNLIKELY(fi_load_relaxed(&w->ready_mask));
}

/* [thread that is not a worker] The same. */
static inline void fi_trace_ready_external(fi_runtime *rt, fi_fiber *f)
{
    FI_PROBE2(ready, f, -1);
    if (FI_UNLIKELY(rt->external_events))
        fi_trace_record_external(rt, FI_TRACE_READY, &f->trace_id, 0);
}

/* ---- workers ---- */

static inline void fi_trace_on(fi_worker *w, fi_trace_event p, uint64_t a, uint64_t b)
{
    if (FI_UNLIKELY(w->hook_mask))
        fi_trace_record(w, p, a, b);
}

/* [worker] */
static inline void fi_trace_publish(fi_worker *w, size_t n)
{
    FI_PROBE2(publish, w->index, n);
    fi_trace_on(w, FI_TRACE_PUBLISH, n, 0);
}

static inline void fi_trace_steal(fi_worker *w, const fi_worker *victim, int n)
{
    FI_PROBE3(steal, w->index, victim->index, n);
    fi_trace_on(w, FI_TRACE_STEAL, victim->index, (uint64_t)n);
}

static inline void fi_trace_sleep(fi_worker *w)
{
    FI_PROBE1(sleep, w->index);
    fi_trace_on(w, FI_TRACE_SLEEP, 0, 0);
}

static inline void fi_trace_woken(fi_worker *w)
{
    FI_PROBE1(woken, w->index);
    fi_trace_on(w, FI_TRACE_WOKEN, 0, 0);
}

static inline void fi_trace_search(fi_worker *w)
{
    FI_PROBE1(search, w->index);
    fi_trace_on(w, FI_TRACE_SEARCH, 0, 0);
}

static inline void fi_trace_search_end(fi_worker *w, bool found)
{
    FI_PROBE2(search__end, w->index, found);
    fi_trace_on(w, FI_TRACE_SEARCH_END, found, 0);
}

/* The time in ticks, for fi_trace_poll_end; 0: not traced. */
uint64_t fi_trace_time(void);
static inline uint64_t fi_trace_poll(fi_worker *w)
{
    FI_PROBE1(poll, w->index);
    return FI_UNLIKELY(w->hook_mask) ? fi_trace_time() : 0;
}

/* A poll without events is not recorded, because idle workers poll all the time. */
static inline void fi_trace_poll_end(fi_worker *w, uint64_t since, int n)
{
    FI_PROBE2(poll__end, w->index, n);
    if (FI_UNLIKELY(w->hook_mask) && n > 0)
        fi_trace_record(w, FI_TRACE_POLL, since, (uint64_t)n);
}

static inline void fi_trace_timers(fi_worker *w)
{
    FI_PROBE1(timers, w->index);
    fi_trace_on(w, FI_TRACE_TIMERS, 0, 0);
}

static inline void fi_trace_timers_end(fi_worker *w)
{
    FI_PROBE1(timers__end, w->index);
    fi_trace_on(w, FI_TRACE_TIMERS_END, 0, 0);
}

/* [borrower] */
static inline void fi_trace_caller_runs(fi_worker *w)
{
    FI_PROBE1(caller_runs, w->index);
    fi_trace_on(w, FI_TRACE_CALLER_RUNS, 0, 0);
}

static inline void fi_trace_caller_runs_end(fi_worker *w)
{
    FI_PROBE1(caller_runs__end, w->index);
    fi_trace_on(w, FI_TRACE_CALLER_RUNS_END, 0, 0);
}

/* ---- blocking threads ---- */

/* [thread that is not a worker] */
static inline void fi_trace_block(fi_runtime *rt, uintptr_t function)
{
    FI_PROBE1(block, function);
    if (FI_UNLIKELY(rt->external_events))
        fi_trace_record_external(rt, FI_TRACE_BLOCK, NULL, function);
}

static inline void fi_trace_block_end(fi_runtime *rt)
{
    FI_PROBE(block__end);
    if (FI_UNLIKELY(rt->external_events))
        fi_trace_record_external(rt, FI_TRACE_BLOCK_END, NULL, 0);
}

#endif
