/* Points in the lives of workers and fibers at which somebody may look on.  At each there is a probe (sched/probe.h); if
 * the worker has a log, an event in it, from which observe/trace.c makes a picture; and if paths are followed (sched/path.h), what is to be
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
#ifndef FI_SCHED_POINT_H
#define FI_SCHED_POINT_H

#include "base/event_ring.h"
#include "sched/probe.h"
#include "sched/worker.h"

/* In brackets: the two words. */
typedef enum fi_point {
    FI_POINT_BEGIN = 1,  /* a fiber begins something (its function; in line | in the deque << 32) */
    FI_POINT_RUN,        /* it goes on (the same) */
    FI_POINT_STOP,       /* it makes way (what for, a const char *; which) */
    FI_POINT_END,        /* it has ended what it ran */
    FI_POINT_NAME,       /* it is called something else */
    FI_POINT_READY,      /* it may go on (whose doing: an id; or outside, a thread) */
    FI_POINT_PUBLISH,    /* tasks are made public (how many) */
    FI_POINT_STEAL,      /* something was stolen (from which worker; how many) */
    FI_POINT_SLEEP,      /* the worker falls asleep */
    FI_POINT_WOKEN,      /* it is awake */
    FI_POINT_GUEST,      /* somebody else runs it, while its own thread sleeps */
    FI_POINT_GUEST_END,  /* no more */
    FI_POINT_SEARCH,     /* it looks for work elsewhere */
    FI_POINT_SEARCH_END, /* (did it find some) */
    FI_POINT_POLL,       /* the poller had something (since when it was asked; how many) */
    FI_POINT_TIMERS,     /* something is due */
    FI_POINT_TIMERS_END, /* and was done */
    FI_POINT_BLOCK,      /* outside: a spare thread makes a call (thread; function) */
    FI_POINT_BLOCK_END,  /* (thread) */
} fi_point;

/* Why a fiber makes way. */
typedef enum fi_way {
    FI_WAY_WAIT,  /* for what fi_fiber.waiting says */
    FI_WAY_TASK,  /* for a task that somebody else runs */
    FI_WAY_YIELD, /* for others */
    FI_WAY_END,   /* it has nothing left to run */
} fi_way;

/* The words of an event. */
static inline uint64_t fi_point_head(fi_point p, const fi_traced *t)
{
    return (uint64_t)p | (uint64_t)t->work << 8 | (uint64_t)t->name << 12 | t->id << 28;
}

static inline fi_point fi_point_of_head(uint64_t head)
{
    return (fi_point)(head & 0xff);
}

/* All but its function. */
static inline fi_traced fi_point_traced(uint64_t head)
{
    return (fi_traced){
        .id = head >> 28, .name = head >> 12 & 0xffff, .work = (fi_work)(head >> 8 & 0xf)};
}

/* ---- where somebody looks: point.c ---- */

/* Not cold, although seldom: the compiler would save room there, not time. */
#define FI_POINT_SEE __attribute__((noinline)) void
FI_POINT_SEE fi_point_see(fi_worker *w, fi_point p, uint64_t a, uint64_t b);
FI_POINT_SEE fi_point_see_run(fi_worker *w, const fi_fiber *f);
FI_POINT_SEE fi_point_see_away(fi_worker *w, fi_fiber *f, fi_fiber *to, fi_way why);
FI_POINT_SEE fi_point_see_begin(fi_fiber *f, fi_work work, const char *name, uintptr_t function);
FI_POINT_SEE fi_point_see_end(fi_fiber *f);
FI_POINT_SEE fi_point_see_work(fi_worker *w, const fi_runnable *work);
FI_POINT_SEE fi_point_see_give(fi_worker *w, const fi_runnable *work);
FI_POINT_SEE fi_point_see_name(fi_fiber *f, const char *name);
FI_POINT_SEE fi_point_see_ready(fi_worker *w, const fi_fiber *f);
FI_POINT_SEE fi_point_see_outside(fi_runtime *rt, fi_point p, const fi_traced *t, uint64_t b);

/* ---- fibers ---- */

/* [worker] The fiber goes on here. */
#define FI_POINT_INLINE static inline __attribute__((always_inline))
FI_POINT_INLINE void fi_point_run(fi_worker *w, fi_fiber *f)
{
    FI_PROBE2(run, f, w->index);
    if (FI_UNLIKELY(w->hook_mask))
        fi_point_see_run(w, f);
}

/* [fiber] It makes way for another. */
FI_POINT_INLINE void fi_point_away(fi_worker *w, fi_fiber *f, fi_fiber *to, fi_way why)
{
    FI_PROBE3(stop, f, w->index, why);
    FI_PROBE2(run, to, w->index);
    if (FI_UNLIKELY(w->hook_mask))
        fi_point_see_away(w, f, to, why);
}

/* [fiber] It makes way for its worker. */
FI_POINT_INLINE void fi_point_home(fi_worker *w, fi_fiber *f, fi_way why)
{
    FI_PROBE3(stop, f, w->index, why);
    if (FI_UNLIKELY(w->hook_mask))
        fi_point_see_away(w, f, NULL, why);
}

/* [fiber] It begins with this; name: NULL, function: 0: it has none. */
static inline void fi_point_begin(fi_fiber *f, fi_work work, const char *name, uintptr_t function)
{
    FI_PROBE3(begin, f, name, function);
    if (FI_UNLIKELY(f->worker->hook_mask))
        fi_point_see_begin(f, work, name, function);
}

/* [fiber] It is about to do this work. */
static inline void fi_point_work(fi_fiber *f, const fi_runnable *work)
{
    if (FI_UNLIKELY(f->worker->hook_mask))
        fi_point_see_work(f->worker, work);
}

/* [worker] Work is given to whoever takes it first. */
static inline void fi_point_give(fi_worker *w, const fi_runnable *work)
{
    if (FI_UNLIKELY(w->hook_mask))
        fi_point_see_give(w, work);
}

/* [fiber] It has ended that. */
static inline void fi_point_end(fi_fiber *f)
{
    FI_PROBE1(end, f);
    if (FI_UNLIKELY(f->worker->hook_mask))
        fi_point_see_end(f);
}

/* [fiber] It has another name, NULL: none. */
static inline void fi_point_name(fi_fiber *f, const char *name)
{
    if (FI_UNLIKELY(f->worker->hook_mask))
        fi_point_see_name(f, name);
}

/* [worker] A fiber that was away may go on.  True: fi_point_see_ready is to be called.  So that is no call in the middle of
 * a short way, for which registers would have to be saved. */
FI_POINT_INLINE bool fi_point_ready(fi_worker *w, fi_fiber *f)
{
    FI_PROBE2(ready, f, w->index);
    return FI_UNLIKELY(w->hook_mask);
}

/* [thread that is no worker] The same. */
static inline void fi_point_ready_outside(fi_runtime *rt, fi_fiber *f)
{
    FI_PROBE2(ready, f, -1);
    if (FI_UNLIKELY(rt->external_events))
        fi_point_see_outside(rt, FI_POINT_READY, &f->traced, 0);
}

/* ---- workers ---- */

static inline void fi_point_on(fi_worker *w, fi_point p, uint64_t a, uint64_t b)
{
    if (FI_UNLIKELY(w->hook_mask))
        fi_point_see(w, p, a, b);
}

/* [worker] */
static inline void fi_point_publish(fi_worker *w, size_t n)
{
    FI_PROBE2(publish, w->index, n);
    fi_point_on(w, FI_POINT_PUBLISH, n, 0);
}

static inline void fi_point_steal(fi_worker *w, const fi_worker *victim, int n)
{
    FI_PROBE3(steal, w->index, victim->index, n);
    fi_point_on(w, FI_POINT_STEAL, victim->index, (uint64_t)n);
}

static inline void fi_point_sleep(fi_worker *w)
{
    FI_PROBE1(sleep, w->index);
    fi_point_on(w, FI_POINT_SLEEP, 0, 0);
}

static inline void fi_point_woken(fi_worker *w)
{
    FI_PROBE1(woken, w->index);
    fi_point_on(w, FI_POINT_WOKEN, 0, 0);
}

static inline void fi_point_search(fi_worker *w)
{
    FI_PROBE1(search, w->index);
    fi_point_on(w, FI_POINT_SEARCH, 0, 0);
}

static inline void fi_point_search_end(fi_worker *w, bool found)
{
    FI_PROBE2(search__end, w->index, found);
    fi_point_on(w, FI_POINT_SEARCH_END, found, 0);
}

/* When; 0: nobody wants to know. */
uint64_t fi_point_time(void);
static inline uint64_t fi_point_poll(fi_worker *w)
{
    FI_PROBE1(poll, w->index);
    return FI_UNLIKELY(w->hook_mask) ? fi_point_time() : 0;
}

/* What brought nothing is no event: idle workers ask all the time. */
static inline void fi_point_poll_end(fi_worker *w, uint64_t since, int n)
{
    FI_PROBE2(poll__end, w->index, n);
    if (FI_UNLIKELY(w->hook_mask) && n > 0)
        fi_point_see(w, FI_POINT_POLL, since, (uint64_t)n);
}

static inline void fi_point_timers(fi_worker *w)
{
    FI_PROBE1(timers, w->index);
    fi_point_on(w, FI_POINT_TIMERS, 0, 0);
}

static inline void fi_point_timers_end(fi_worker *w)
{
    FI_PROBE1(timers__end, w->index);
    fi_point_on(w, FI_POINT_TIMERS_END, 0, 0);
}

/* [guest] */
static inline void fi_point_guest(fi_worker *w)
{
    FI_PROBE1(guest, w->index);
    fi_point_on(w, FI_POINT_GUEST, 0, 0);
}

static inline void fi_point_guest_end(fi_worker *w)
{
    FI_PROBE1(guest__end, w->index);
    fi_point_on(w, FI_POINT_GUEST_END, 0, 0);
}

/* ---- spare threads ---- */

/* [thread that is no worker] */
static inline void fi_point_block(fi_runtime *rt, uintptr_t function)
{
    FI_PROBE1(block, function);
    if (FI_UNLIKELY(rt->external_events))
        fi_point_see_outside(rt, FI_POINT_BLOCK, NULL, function);
}

static inline void fi_point_block_end(fi_runtime *rt)
{
    FI_PROBE(block__end);
    if (FI_UNLIKELY(rt->external_events))
        fi_point_see_outside(rt, FI_POINT_BLOCK_END, NULL, 0);
}

#endif
