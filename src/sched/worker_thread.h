/* What a thread brings to the worker that it runs.  A worker's own thread keeps its thread as long as the runtime
 * runs; a guest takes place for one task, while that thread sleeps (sched/caller_runs.h). */
#ifndef FI_SCHED_WORKER_THREAD_H
#define FI_SCHED_WORKER_THREAD_H

#include "base/atomic.h"
#include "ctx/ctx.h"
#include "sched/cxx_exceptions.h"
#include "sched/runnable.h"
#include "stack/overflow.h"

#include <stdbool.h>

#define FI_DIRECT_SWITCH_MAX 15u

typedef struct fi_worker_thread {
    fi_ctx sched_ctx; /* the thread's own stack, where it chooses what to run */
    fi_cxx_exceptions sched_cxx;
    fi_cxx_exceptions *cxx; /* where the thread keeps the state of C++ */
    fi_overflow_handler *overflow;
    bool has_overflow_handler; /* without it an overflow is a bare SIGSEGV: no reason not to run */
    FI_ATOMIC(uint32_t) * stop_flag; /* not 0: the thread is to leave */
    bool is_borrower;
    uint32_t
        direct_switch_max; /* so many looks in a row may be on fibers' stacks; a guest's none */
    int clock;             /* of the thread (sched/thread_time.h); 0: not needed */
    fi_fiber *root_fiber;  /* of a guest: what it has come to run */
} fi_worker_thread;

/* [the thread] The watch is the worker's, and keeps its memory for who comes next. */
void fi_worker_thread_init(fi_worker_thread *s, fi_overflow_handler *overflow,
                           FI_ATOMIC(uint32_t) * stop_flag);
void fi_worker_thread_fini(fi_worker_thread *s);

/* [the thread] Is it time to leave? */
static inline bool fi_worker_thread_must_stop(const fi_worker_thread *s)
{
    return fi_load_relaxed(s->stop_flag) != 0;
}

#endif
