/* Points in the lives of workers and fibers at which somebody may look on.  At each there is a probe (sched/probe.h); if
 * the worker has a log, an event in it, from which observe/trace.c makes a picture; and if paths are followed (sched/span.h), what is to be
 * done for that.
 *
 * Where nobody looks a point is a nop and one look at a word of the worker, which is in the cache anyway; all else is in
 * calls that are not made.  There is none where tasks are spawned and synced that nobody else wants.
 *
 * An event is four words:
 *     when, in ticks
 *     kind (8 bits), work (4), number of the name (16), id of what the fiber runs (36)
 *     two words that depend on the kind
 *
 * A worker's log is written by whoever runs the worker.  Threads that are no workers share another one, behind a lock.
 */
#ifndef FI_SCHED_TRACEPOINT_H
#define FI_SCHED_TRACEPOINT_H

#include "base/event_ring.h"
#include "sched/worker.h"

/* USDT probes for perf, bpftrace and similar tools.  A probe is a nop and a note in the library with its
 * address and arguments.  docs/observe.md lists them. */
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

/* In brackets: the two words. */
typedef enum fi_trace_event {
    FI_TRACE_BEGIN = 1, /* a fiber begins something (its function; in line | in the deque << 32) */
    FI_TRACE_RUN,       /* it goes on (the same) */
    FI_TRACE_STOP,      /* it makes way (what for, a const char *; which) */
    FI_TRACE_END,       /* it has ended what it ran */
    FI_TRACE_NAME,      /* it is called something else */
    FI_TRACE_READY,     /* it may go on (whose doing: an id; or outside, a thread) */
    FI_TRACE_PUBLISH,   /* tasks are made public (how many) */
    FI_TRACE_STEAL,     /* something was stolen (from which worker; how many) */
    FI_TRACE_SLEEP,     /* the worker falls asleep */
    FI_TRACE_WOKEN,     /* it is awake */
    FI_TRACE_CALLER_RUNS,     /* somebody else runs it, while its own thread sleeps */
    FI_TRACE_CALLER_RUNS_END, /* no more */
    FI_TRACE_SEARCH,          /* it looks for work elsewhere */
    FI_TRACE_SEARCH_END,      /* (did it find some) */
    FI_TRACE_POLL,            /* the poller had something (since when it was asked; how many) */
    FI_TRACE_TIMERS,          /* something is due */
    FI_TRACE_TIMERS_END,      /* and was done */
    FI_TRACE_BLOCK,           /* outside: a blocking thread makes a call (thread; function) */
    FI_TRACE_BLOCK_END,       /* (thread) */
} fi_trace_event;

/* Why a fiber makes way. */
typedef enum fi_switch_reason {
    FI_SWITCH_WAIT,  /* for what fi_fiber.waiting says */
    FI_SWITCH_TASK,  /* for a task that somebody else runs */
    FI_SWITCH_YIELD, /* for others */
    FI_SWITCH_END,   /* it has nothing left to run */
} fi_switch_reason;

/* The words of an event. */
static inline uint64_t fi_trace_head(fi_trace_event p, const fi_trace_id *t)
{
    return (uint64_t)p | (uint64_t)t->work << 8 | (uint64_t)t->name << 12 | t->id << 28;
}

static inline fi_trace_event fi_trace_event_of_head(uint64_t head)
{
    return (fi_trace_event)(head & 0xff);
}

/* All but its function. */
static inline fi_trace_id fi_trace_id_of_head(uint64_t head)
{
    return (fi_trace_id){
        .id = head >> 28, .name = head >> 12 & 0xffff, .work = (fi_work)(head >> 8 & 0xf)};
}

/* ---- where somebody looks: point.c ---- */

/* Not cold, although seldom: the compiler would save room there, not time. */
#define FI_TRACE_RECORD __attribute__((noinline)) void
FI_TRACE_RECORD fi_trace_record(fi_worker *w, fi_trace_event p, uint64_t a, uint64_t b);
FI_TRACE_RECORD fi_trace_record_run(fi_worker *w, const fi_fiber *f);
FI_TRACE_RECORD fi_trace_record_switch(fi_worker *w, fi_fiber *f, fi_fiber *to,
                                       fi_switch_reason why);
FI_TRACE_RECORD fi_trace_record_begin(fi_fiber *f, fi_work work, const char *name,
                                      uintptr_t function);
FI_TRACE_RECORD fi_trace_record_end(fi_fiber *f);
FI_TRACE_RECORD fi_trace_record_work(fi_worker *w, const fi_runnable *work);
FI_TRACE_RECORD fi_trace_record_submit(fi_worker *w, const fi_runnable *work);
FI_TRACE_RECORD fi_trace_record_name(fi_fiber *f, const char *name);
FI_TRACE_RECORD fi_trace_record_ready(fi_worker *w, const fi_fiber *f);
FI_TRACE_RECORD fi_trace_record_external(fi_runtime *rt, fi_trace_event p, const fi_trace_id *t,
                                         uint64_t b);

/* ---- fibers ---- */

/* [worker] The fiber goes on here. */
#define FI_TRACE_INLINE static inline __attribute__((always_inline))
FI_TRACE_INLINE void fi_trace_run(fi_worker *w, fi_fiber *f)
{
    FI_PROBE2(run, f, w->index);
    if (FI_UNLIKELY(w->hook_mask))
        fi_trace_record_run(w, f);
}

/* [fiber] It makes way for another. */
FI_TRACE_INLINE void fi_trace_switch(fi_worker *w, fi_fiber *f, fi_fiber *to, fi_switch_reason why)
{
    FI_PROBE3(stop, f, w->index, why);
    FI_PROBE2(run, to, w->index);
    if (FI_UNLIKELY(w->hook_mask))
        fi_trace_record_switch(w, f, to, why);
}

/* [fiber] It makes way for its worker. */
FI_TRACE_INLINE void fi_trace_switch_to_sched(fi_worker *w, fi_fiber *f, fi_switch_reason why)
{
    FI_PROBE3(stop, f, w->index, why);
    if (FI_UNLIKELY(w->hook_mask))
        fi_trace_record_switch(w, f, NULL, why);
}

/* [fiber] It begins with this; name: NULL, function: 0: it has none. */
static inline void fi_trace_begin(fi_fiber *f, fi_work work, const char *name, uintptr_t function)
{
    FI_PROBE3(begin, f, name, function);
    if (FI_UNLIKELY(f->worker->hook_mask))
        fi_trace_record_begin(f, work, name, function);
}

/* [fiber] It is about to do this work. */
static inline void fi_trace_work(fi_fiber *f, const fi_runnable *work)
{
    if (FI_UNLIKELY(f->worker->hook_mask))
        fi_trace_record_work(f->worker, work);
}

/* [worker] Work is given to whoever takes it first. */
static inline void fi_trace_submit(fi_worker *w, const fi_runnable *work)
{
    if (FI_UNLIKELY(w->hook_mask))
        fi_trace_record_submit(w, work);
}

/* [fiber] It has ended that. */
static inline void fi_trace_end(fi_fiber *f)
{
    FI_PROBE1(end, f);
    if (FI_UNLIKELY(f->worker->hook_mask))
        fi_trace_record_end(f);
}

/* [fiber] It has another name, NULL: none. */
static inline void fi_trace_name(fi_fiber *f, const char *name)
{
    if (FI_UNLIKELY(f->worker->hook_mask))
        fi_trace_record_name(f, name);
}

/* [worker] A fiber that was away may go on.  True: fi_trace_record_ready is to be called.  So that is no call in the middle of
 * a short way, for which registers would have to be saved. */
FI_TRACE_INLINE bool fi_trace_ready(fi_worker *w, fi_fiber *f)
{
    FI_PROBE2(ready, f, w->index);
    return FI_UNLIKELY(w->hook_mask);
}

/* [thread that is no worker] The same. */
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

/* When; 0: nobody wants to know. */
uint64_t fi_trace_time(void);
static inline uint64_t fi_trace_poll(fi_worker *w)
{
    FI_PROBE1(poll, w->index);
    return FI_UNLIKELY(w->hook_mask) ? fi_trace_time() : 0;
}

/* What brought nothing is no event: idle workers ask all the time. */
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

/* [guest] */
static inline void fi_trace_caller_runs(fi_worker *w)
{
    FI_PROBE1(guest, w->index);
    fi_trace_on(w, FI_TRACE_CALLER_RUNS, 0, 0);
}

static inline void fi_trace_caller_runs_end(fi_worker *w)
{
    FI_PROBE1(guest__end, w->index);
    fi_trace_on(w, FI_TRACE_CALLER_RUNS_END, 0, 0);
}

/* ---- blocking threads ---- */

/* [thread that is no worker] */
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
