/* A fiber: a stack and a saved point of execution on it.  Workers run user code on nothing else.
 *
 * What is known of it stands at the upper end of its stack: a parked fiber is one page of memory, and comes and goes with
 * its stack.  Thieves may ask a fiber that is gone: that memory stays accessible (fi_stack_config.reserve), and an ask does no
 * harm to whoever has it then. */
#ifndef FI_SCHED_FIBER_H
#define FI_SCHED_FIBER_H

#include "base/biased_lock.h"
#include "ctx/ctx.h"
#include "sched/cxx_exceptions.h"
#include "sched/runnable.h"
#include "sched/task_bounds.h"
#include "stack/overflow.h"
#include "stack/stack.h"

typedef struct fi_worker fi_worker;
typedef struct fi_runtime fi_runtime;
typedef struct fi_waiter fi_waiter;
typedef struct fi_handle fi_handle;
typedef struct fi_fls fi_fls;

/* What a fiber waits for: kind is "mutex", "send" and so on. */
typedef struct fi_wait_reason {
    const char *kind;
    const void *object;
} fi_wait_reason;

/* What a fiber may run. */
typedef enum fi_work { FI_WORK_FIBER, FI_WORK_TASK, FI_WORK_JOB } fi_work;

/* What a trace knows of a fiber.  Written only while a trace is on (sched/tracepoint.h). */
typedef struct fi_trace_id {
    uint64_t id; /* of what it runs now, never used again; 0: nothing that the trace has seen */
    uintptr_t function; /* 0: not known */
    uint32_t name;      /* in the runtime's intern table; 0: none */
    fi_work work;
} fi_trace_id;

/* A fiber and the fibers that run its stolen tasks are cancelled together (wait/cancel.h). */
typedef struct fi_cancel {
    fi_fiber *root;        /* of a member, which alone uses it; NULL: not a member */
    fi_fiber *next, *prev; /* of a member, under the root's lock */
    fi_biased_lock lock;   /* of a root; taken before the lock of an object */
    fi_fiber *members;     /* of a root, under its lock */
} fi_cancel;

struct fi_fiber {
    fi_task_bounds bounds; /* first: compiled task code holds its address */
    fi_runnable ready;     /* what stands in the queues while the fiber waits to be resumed */
    fi_worker *worker;     /* who runs it */
    FI_ATOMIC(const void *)
    wait_key; /* the address under which it stands in the lot; NULL: it does not */
    FI_ATOMIC(fi_waiter *) waiting; /* what it waits for; NULL: nothing */
    FI_ATOMIC(uint32_t) pins;       /* those who look at that, which must not go away meanwhile */
    FI_ATOMIC(uint32_t) freezes;    /* those who look at its stack: it must not go on meanwhile */
    FI_ATOMIC(uint32_t) cancelled;
    FI_ATOMIC(uint32_t) busy; /* it has something to run, or to go on with */
    FI_ATOMIC(uintptr_t)
    body;              /* of what was started by name, while that runs; 0: a task or a job */
    fi_runnable *work; /* what it runs next */
    /* What its last work has left to do, before the fiber does anything but work of the same kind; it sets
     * this to NULL: nothing. */
    void (*rest)(fi_fiber *f);
    void *rest_of;
    uint32_t rest_n;

    fi_ctx ctx;
    fi_stack *stack;
    fi_stack_pool *pool; /* of its stack; NULL: that of all others */
    fi_stack_bounds stack_bounds;
    fi_cxx_exceptions cxx;

    fi_handle *handle;               /* NULL: it has none */
    void (*end_handle)(fi_fiber *f); /* of one that it got while it ran; NULL: there is none */
    fi_fls *fls;                     /* NULL: none yet */
    void (*fls_end)(fi_fls *fls);

    void *tasks; /* the task stack, made by the room above when it is first needed */
    void (*tasks_free)(void *tasks);

    fi_fiber *next_cached; /* in its worker's list, while it has nothing to run */
    fi_trace_id trace_id;
    fi_cancel cancel;
};

/* [the fiber, or a thread that has pinned it] A fi_waiter begins with its reason. */
static inline const fi_wait_reason *fi_waiter_reason(const fi_waiter *w)
{
    return (const void *)w;
}

/* [any] The fiber whose words these are. */
static inline fi_fiber *fi_fiber_of_bounds(void *bounds)
{
    return bounds;
}

/* [any] The fiber that waits in a queue. */
static inline fi_fiber *fi_fiber_of_ready(fi_runnable *r)
{
    return (fi_fiber *)(void *)((char *)r - offsetof(fi_fiber, ready));
}

/* [worker] A fiber that has nothing to run: one that ran before, or a new one; NULL when there is no
 * memory. */
fi_fiber *fi_fiber_acquire(fi_worker *w);

/* [any] A stack of a size of its own, a power of two; NULL when there is no memory.
 * [worker] A new fiber on it. */
#define FI_FIBER_STACK_MIN ((size_t)16 << 10)
fi_stack *fi_fiber_stack_new(fi_runtime *rt, size_t stack_size);
fi_fiber *fi_fiber_acquire_sized(fi_worker *w, fi_stack *s);

/* [any] Free such a stack on which no fiber was made. */
void fi_fiber_stack_free(fi_stack *s);

/* [worker] One that has a stack; NULL: there is none. */
fi_fiber *fi_fiber_acquire_cached(fi_worker *w);

/* [worker] Let it run this next, in these modes. */
void fi_fiber_assign(fi_fiber *f, fi_runnable *r, const fi_ctx_fpenv *modes);

/* [worker] It has nothing to run any more. */
void fi_fiber_release(fi_worker *w, fi_fiber *f);

/* [worker] Unmake all fibers that have nothing to run. */
void fi_fiber_cache_drain(fi_worker *w);

/* [fiber, at the end of its work] Destroy what it has of its own.  That may park. */
void fi_fiber_end_fls(fi_fiber *f);

/* [fiber or its worker] Add what the fiber counted to its worker's counters. */
void fi_fiber_flush(fi_fiber *f);

/* [any] A pool for the stacks of fibers; 0 or -errno. */
int fi_fiber_pool_init(fi_stack_pool *p, size_t stack_size);

/* [watcher] From now on the memory of fibers that are gone is kept for new ones, and this gives back what nobody needed
 * since the last time.  How many are left. */
void fi_fiber_cache_enable(fi_runtime *rt);
size_t fi_fiber_cache_trim(fi_runtime *rt);

/* [any] Call visit for every fiber that there is, busy or not.  None is unmade meanwhile. */
void fi_fiber_foreach(fi_runtime *rt, void (*visit)(fi_fiber *f, void *ctx), void *ctx);

#endif
