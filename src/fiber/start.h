/* Parts of the start of a detached fiber, for timers and tickers. */
#ifndef FI_FIBER_START_H
#define FI_FIBER_START_H

#include "sched/tracepoint.h"
#include "sched/worker.h"

/* [worker] Submit the queue entry of a fiber. */
void fi_start_submit(fi_worker *w, fi_runnable *r);

/* [fiber] Begin and end its function. */
static inline void fi_start_begin(fi_fiber *f, const char *name, uintptr_t body)
{
    if (name)
        f->stack_bounds.name = name;
    fi_store_relaxed(&f->body, body);
    f->work = NULL;
    fi_trace_begin(f, FI_WORK_FIBER, name, body);
}

static inline void fi_start_end(fi_fiber *f)
{
    fi_store_relaxed(&f->body, 0);
    fi_count(&f->worker->counters.starts_ended);
}

#endif
