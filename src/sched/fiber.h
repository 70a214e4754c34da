/* A fiber: a stack and a saved context.  All user code runs on fibers.
 *
 * The record is at the upper end of the fiber's stack, so a parked fiber takes one page of memory.
 * A thief may request tasks from a fiber that was freed.  Its memory stays accessible
 * (fi_stack_config.reserve), and a request does no harm to the next fiber there. */
#ifndef FI_SCHED_FIBER_H
#define FI_SCHED_FIBER_H

#include "base/lock.h"
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
    uint64_t id;        /* of what it runs now, never reused; 0: not traced */
    uintptr_t function; /* 0: not known */
    uint32_t name;      /* in the runtime's intern table; 0: none */
    fi_work work;
} fi_trace_id;

/* Cancellation (wait/cancel.h).
 *
 * A scope is cancelled as a whole: a group, a job, or a fiber with its stolen tasks.  It has a list
 * of the fibers that wait in it.  Zeroed memory is an empty scope. */
typedef struct fi_cancel_node fi_cancel_node;

typedef struct fi_cancel_scope {
    fi_lock lock;
    uint32_t visit;                             /* number of the newest walk of the list */
    FI_ATOMIC(uint64_t) cancelled;              /* number of the cancellation; 0: not cancelled */
    fi_cancel_node *first;                      /* circular, the oldest visit first; NULL: empty */
    FI_ATOMIC(struct fi_cancel_scope *) parent; /* NULL: none */
    FI_ATOMIC(struct fi_cancel_scope *) outer;  /* an ancestor near the outermost; NULL: none */
} fi_cancel_scope;

/* An entry of a fiber in the list of a scope. */
struct fi_cancel_node {
    fi_cancel_node *next, *prev;
    FI_ATOMIC(fi_cancel_scope *) list; /* NULL: in no list.  Changes under the lock of the list */
    fi_cancel_scope *scope;            /* the innermost scope; list is the outermost */
    fi_fiber *fiber;
    uint32_t visit;
};

/* Bits of fi_fiber.cancel_state.  The waits of a fiber take a slow path while one is set. */
enum {
    FI_CANCEL_OUTSIDE = 1, /* the fiber is not in the lists of its scopes */
    FI_CANCEL_DONE = 2,    /* the fiber is cancelled */
};

/* Part of an object that ends when the work of a fiber ends. */
typedef struct fi_at_end {
    struct fi_at_end *next;
    void (*end)(struct fi_at_end *self, fi_fiber *f); /* may free the object, and may park */
} fi_at_end;

/* Counted by the work of a fiber, and added to the group before the fiber runs other work. */
typedef struct fi_deferred {
    void (*run)(fi_fiber *f); /* sets itself and group to NULL; NULL: nothing is deferred */
    fi_cancel_scope *group;   /* of the work that runs or that has ended; NULL: none */
    uint32_t n;
} fi_deferred;

typedef struct fi_cancel {
    fi_fiber *root;              /* whose stolen task it runs; NULL: it runs none */
    fi_cancel_scope *job;        /* that it runs; NULL: none */
    fi_cancel_scope tasks;       /* the fibers that run its stolen tasks */
    fi_cancel_node in_tasks;     /* in the list of the root */
    fi_cancel_node in_group;     /* in the list of the group or job */
    FI_ATOMIC(uint64_t) ignored; /* cancellations of groups up to this number are ignored */
    fi_at_end at_end;
} fi_cancel;

struct fi_fiber {
    fi_task_bounds bounds; /* first: inline task code has its address */
    fi_runnable ready;     /* in a run queue, while the fiber is ready */
    fi_worker *worker;     /* that runs it */
    /* A cancellation uses these, so they share a cache line with `ready`. */
    FI_ATOMIC(fi_waiter *) waiting; /* what it waits for; NULL: nothing */
    FI_ATOMIC(uint32_t) pins;       /* threads that read `waiting`, which must stay valid */
    FI_ATOMIC(uint32_t) freezes;    /* threads that read its stack: it must not run */
    FI_ATOMIC(uint32_t) cancel_state;

    FI_ATOMIC(uint32_t) busy; /* it has work */
    FI_ATOMIC(const void *)
    wait_key;                  /* the address that it waits for in the parking lot; NULL: none */
    FI_ATOMIC(uint32_t) bound; /* index of its only worker, plus 1 (sched/bound.h); 0: any */
    FI_ATOMIC(uintptr_t)
    body;              /* function of filch_go or filch_fiber_start; 0: a task or a job */
    fi_runnable *work; /* what it runs next */
    fi_deferred deferred;
    fi_at_end *at_end; /* ended in this order */

    fi_ctx ctx;
    fi_stack *stack;
    fi_stack_pool *pool; /* of a stack with its own size; NULL: the runtime's pool */
    fi_stack_bounds stack_bounds;
    fi_cxx_exceptions cxx;

    fi_handle *handle; /* NULL: none */
    fi_fls *fls;       /* fiber-local storage; NULL: none yet */

    void *tasks;                     /* the task stack, made by src/task at the first spawn */
    void (*tasks_free)(void *tasks); /* called when the fiber is freed */

    fi_fiber *next_cached; /* in its worker's fiber_cache */
    fi_trace_id trace_id;
    fi_cancel cancel;
};

/* [the fiber, or a thread that has pinned it] A fi_waiter begins with its reason. */
static inline const fi_wait_reason *fi_waiter_reason(const fi_waiter *w)
{
    return (const void *)w;
}

/* [any] */
static inline fi_fiber *fi_fiber_of_bounds(void *bounds)
{
    return bounds;
}

/* [any] The fiber of an entry of a run queue. */
static inline fi_fiber *fi_fiber_of_ready(fi_runnable *r)
{
    return (fi_fiber *)(void *)((char *)r - offsetof(fi_fiber, ready));
}

/* [worker] A fiber without work, from the cache or new; NULL: no memory. */
fi_fiber *fi_fiber_acquire(fi_worker *w);

/* [any] A stack of this size, a power of two; NULL: no memory.
 * [worker] A new fiber on such a stack. */
#define FI_FIBER_STACK_MIN ((size_t)16 << 10)
fi_stack *fi_fiber_stack_new(fi_runtime *rt, size_t stack_size);
fi_fiber *fi_fiber_acquire_sized(fi_worker *w, fi_stack *s);

/* [any] Free such a stack, on which no fiber was made. */
void fi_fiber_stack_free(fi_stack *s);

/* [worker] Let the fiber run r next, with these floating-point modes. */
void fi_fiber_assign(fi_fiber *f, fi_runnable *r, const fi_ctx_fpenv *modes);

/* [worker] The fiber has no more work: put it into the cache, or free it. */
void fi_fiber_release(fi_worker *w, fi_fiber *f);

/* [worker] Free all fibers of the cache. */
void fi_fiber_cache_drain(fi_worker *w);

/* [fiber] Add an object that ends before all others, or after them. */
static inline void fi_fiber_end_first(fi_fiber *f, fi_at_end *x)
{
    x->next = f->at_end;
    f->at_end = x;
}

static inline void fi_fiber_end_last(fi_fiber *f, fi_at_end *x)
{
    fi_at_end **last = &f->at_end;

    while (*last)
        last = &(*last)->next;
    x->next = NULL;
    *last = x;
}

/* [fiber, at the end of its work] End these objects, and those that they add. */
void fi_fiber_run_at_end(fi_fiber *f);

/* [fiber] Begin and end one of several functions that it runs as one piece of work.  Each function
 * starts with the default name and floating-point modes, and has its own fiber-local storage and
 * handle. */
void fi_fiber_begin_function(fi_fiber *f, uintptr_t function);
void fi_fiber_end_function(fi_fiber *f);

/* [fiber or its worker] Add the fiber's counts to its worker's counters. */
void fi_fiber_flush(fi_fiber *f);

/* [any] A pool for the stacks of fibers; 0 or -errno. */
int fi_fiber_pool_init(fi_stack_pool *p, size_t stack_size);

/* [watchdog] Keep the memory of freed fibers from now on.
 * Begin to free what was not used since the last such call.
 * Free the next part of it.  Returns: true if there is more.
 * The number of freed fibers that still have memory. */
void fi_fiber_cache_enable(fi_runtime *rt);
void fi_fiber_cache_begin_trim(fi_runtime *rt);
bool fi_fiber_cache_trim(fi_runtime *rt);
size_t fi_fiber_cache_size(fi_runtime *rt);

/* [any] Call visit for every fiber, busy or not.  No fiber is freed meanwhile. */
void fi_fiber_foreach(fi_runtime *rt, void (*visit)(fi_fiber *f, void *ctx), void *ctx);

#endif
