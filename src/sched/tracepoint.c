/* The recording functions of the tracepoints. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* syscall */
#endif
#include "sched/tracepoint.h"

#include "base/clock.h"
#include "sched/span.h"

#include <sys/syscall.h>
#include <unistd.h>

static const fi_trace_id no_trace_id;

static inline void ring_append(fi_event_ring *log, uint64_t when, uint64_t head, uint64_t a,
                               uint64_t b)
{
    fi_event e = {{when, head, a, b}};

    fi_event_ring_append(log, &e);
}

static inline void worker_append(fi_worker *w, uint64_t head, uint64_t a, uint64_t b)
{
    if (w->events)
        ring_append(w->events, fi_clock_ticks_unordered(), head, a, b);
}

static bool has_span_hook(const fi_worker *w)
{
    return w->hook_mask & FI_HOOK_SPAN;
}

uint64_t fi_trace_time(void)
{
    return fi_clock_ticks_unordered();
}

void fi_trace_record(fi_worker *w, fi_trace_event p, uint64_t a, uint64_t b)
{
    worker_append(w, fi_trace_head(p, &no_trace_id), a, b);
}

/* ---- fibers ---- */

static uint64_t queue_sizes(fi_worker *w)
{
    uint64_t new = w->maybe_unstarted ? fi_deque_size(w->deque) : 0;

    return fi_runq_size(&w->ready) | new << 32;
}

/* A fiber that has not begun work has no trace id. */
static inline void append_run(fi_worker *w, const fi_fiber *f, uint64_t when)
{
    const fi_trace_id *t = &f->trace_id;

    if (t->id)
        ring_append(w->events, when, fi_trace_head(FI_TRACE_RUN, t), t->function, queue_sizes(w));
}

void fi_trace_record_run(fi_worker *w, const fi_fiber *f)
{
    if (w->events)
        append_run(w, f, fi_clock_ticks_unordered());
    if (has_span_hook(w))
        fi_span_enter_fiber(f);
}

static fi_wait_reason switch_wait_reason(fi_fiber *f, fi_switch_reason why)
{
    const fi_waiter *wait = why == FI_SWITCH_WAIT ? fi_load_relaxed(&f->waiting) : NULL;

    if (wait)
        return *fi_waiter_reason(wait);
    return (fi_wait_reason){why == FI_SWITCH_YIELD ? "yield" : "task", NULL};
}

static inline void append_stop(fi_worker *w, fi_fiber *f, fi_switch_reason why, uint64_t when)
{
    fi_wait_reason what = switch_wait_reason(f, why);

    ring_append(w->events, when, fi_trace_head(FI_TRACE_STOP, &f->trace_id), (uintptr_t)what.kind,
                (uintptr_t)what.object);
}

/* One fiber stops when the other continues, so one read of the clock is enough. */
static inline void append_switch(fi_worker *w, fi_fiber *f, const fi_fiber *to,
                                 fi_switch_reason why)
{
    uint64_t when = fi_clock_ticks_unordered();

    if (why != FI_SWITCH_END && f->trace_id.id)
        append_stop(w, f, why, when);
    if (to)
        append_run(w, to, when);
}

void fi_trace_record_switch(fi_worker *w, fi_fiber *f, fi_fiber *to, fi_switch_reason why)
{
    if (w->events)
        append_switch(w, f, to, why);
    if (!has_span_hook(w))
        return;
    fi_span_leave_fiber(f);
    if (to)
        fi_span_enter_fiber(to);
}

static uint32_t name_id(fi_worker *w, const char *name)
{
    return name ? fi_intern_id(w->runtime->names, &w->intern_cache, name) : 0;
}

void fi_trace_record_begin(fi_fiber *f, fi_work work, const char *name, uintptr_t function)
{
    fi_worker *w = f->worker;

    if (!w->events)
        return;
    w->next_trace_id += w->runtime->n_workers;
    f->trace_id = (fi_trace_id){w->next_trace_id + w->index, function, name_id(w, name), work};
    worker_append(w, fi_trace_head(FI_TRACE_BEGIN, &f->trace_id), function, queue_sizes(w));
}

void fi_trace_record_end_function(fi_fiber *f)
{
    if (f->trace_id.id)
        worker_append(f->worker, fi_trace_head(FI_TRACE_END, &f->trace_id), 0, 0);
    f->trace_id.id = 0;
}

void fi_trace_record_end(fi_fiber *f)
{
    fi_trace_record_end_function(f);
    if (has_span_hook(f->worker))
        fi_span_end_work();
}

void fi_trace_record_work(fi_worker *w, const fi_runnable *work)
{
    if (has_span_hook(w))
        fi_span_begin_work(work);
}

void fi_trace_record_submit(fi_worker *w, const fi_runnable *work)
{
    if (has_span_hook(w))
        fi_span_inherit(work);
}

void fi_trace_record_name(fi_fiber *f, const char *name)
{
    if (!f->worker->events)
        return;
    f->trace_id.name = name_id(f->worker, name);
    worker_append(f->worker, fi_trace_head(FI_TRACE_NAME, &f->trace_id), f->trace_id.function, 0);
}

void fi_trace_record_ready(fi_worker *w, const fi_fiber *f)
{
    const fi_fiber *by = fi_worker_fiber(w);

    worker_append(w, fi_trace_head(FI_TRACE_READY, &f->trace_id), by ? by->trace_id.id : 0, 0);
    if (has_span_hook(w))
        fi_span_inherit(&f->ready);
}

/* ---- threads that are not workers ---- */

void fi_trace_record_external(fi_runtime *rt, fi_trace_event p, const fi_trace_id *t, uint64_t b)
{
    uint64_t thread = (uint64_t)syscall(SYS_gettid);

    fi_lock_lock(&rt->external_events_lock);
    ring_append(rt->external_events, fi_clock_ticks_unordered(),
                fi_trace_head(p, t ? t : &no_trace_id), thread, b);
    fi_lock_unlock(&rt->external_events_lock);
}
