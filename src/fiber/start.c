/* Starting fibers.  One that nobody waits for is a small record in a queue until it runs, and that record is taken back as
 * soon as somebody has read it; so is the handle of one that somebody waits for. */
#include "fiber/fls.h"
#include "fiber/handle.h"
#include "sched/runtime.h"
#include "sched/tracepoint.h"
#include "sched/watchdog.h"

#include <errno.h>

typedef struct start {
    fi_runnable runnable; /* first: it is what stands in a queue */
    void (*body)(void *arg);
    void *arg;
    const char *name;
    fi_stack *stack; /* of a size of its own; NULL: any */
} start;

_Static_assert(sizeof(start) <= sizeof(fi_record), "a start is a record");

/* ---- run ---- */

static void start_begin(fi_fiber *f, const char *name, uintptr_t body)
{
    if (name)
        f->stack_bounds.name = name;
    fi_store_relaxed(&f->body, body);
    f->work = NULL;
    fi_trace_begin(f, FI_WORK_FIBER, name, body);
}

/* In the child of a fork() there is nobody to tell. */
static void start_end(fi_fiber *f)
{
    fi_store_relaxed(&f->body, 0);
    fi_count(&f->worker->counters.starts_ended);
}

static void run_start(fi_runnable *r, fi_fiber *f)
{
    start s = *(start *)(void *)r;

    fi_record_free(&f->worker->records, r);
    start_begin(f, s.name, (uintptr_t)s.body);
    s.body(s.arg);
    start_end(f);
}

/* Who joins may look for what the fiber had of its own: that is destroyed before. */
static void run_handle(fi_runnable *r, fi_fiber *f)
{
    fi_handle *h = (fi_handle *)(void *)r;
    void *result;

    start_begin(f, h->name, (uintptr_t)h->body);
    fi_handle_begin(h, f);
    result = h->body(h->arg);
    fi_fiber_end_fls(f);
    if (!f->worker->runtime->in_fork_child)
        fi_handle_end(h, result);
    start_end(f);
}

const char fi_start_is_sized;

fi_stack *fi_start_stack_of(const fi_runnable *r)
{
    return r->run == run_start ? ((const start *)(const void *)r)->stack
                               : ((const fi_handle *)(const void *)r)->stack;
}

/* ---- submit ---- */

/* A power of two, so that there are few kinds of them. */
static size_t round_up(size_t wanted)
{
    size_t size = FI_FIBER_STACK_MIN;

    while (size < wanted)
        size *= 2;
    return size;
}

/* A stack of that size for a fiber that is about to be started; NULL for 0: the fiber gets one when
 * it runs.  It is mapped now, because only the caller of the start can be told that there is no
 * memory. */
static int reserve_stack(fi_runtime *rt, size_t size, fi_stack **s)
{
    *s = NULL;
    if (size == 0)
        return 0;
    *s = fi_fiber_stack_new(rt, round_up(size));
    return *s ? 0 : -ENOMEM;
}

static void *alloc_record(fi_runtime *rt, fi_worker *w)
{
    void *r;

    if (w)
        return fi_record_alloc(&w->records);
    fi_lock_lock(&rt->external_lock);
    r = fi_record_alloc(&rt->external_records);
    fi_lock_unlock(&rt->external_lock);
    return r;
}

static void submit(fi_runtime *rt, fi_worker *w, fi_runnable *r)
{
    if (!fi_load_relaxed(&rt->watchdog.started))
        fi_watchdog_start(rt);
    if (w) {
        fi_count(&w->counters.starts_given);
        fi_submit_local(w, r);
    } else {
        fi_fetch_add_relaxed(&rt->n_external_submits, UINT64_C(1));
        fi_submit_external(rt, r);
    }
}

static inline __attribute__((always_inline)) bool go(fi_runtime *rt, fi_worker *w, start s)
{
    start *r = alloc_record(rt, w);

    if (!r)
        return false;
    *r = s;
    submit(rt, w, &r->runnable);
    return true;
}

int filch_go(void (*body)(void *arg), void *arg)
{
    start s = {{NULL, run_start, NULL}, body, arg, NULL, NULL};

    fi_wait_chaos();
    fi_worker *w = fi_worker_self();
    fi_runtime *rt;
    bool gone;

    if (w)
        return go(w->runtime, w, s) ? 0 : -ENOMEM;
    rt = fi_runtime_enter();
    gone = go(rt, NULL, s);
    fi_runtime_leave(rt);
    return gone ? 0 : -ENOMEM;
}

static int go_sized(fi_runtime *rt, fi_worker *w, start s, size_t stack_size)
{
    int e = reserve_stack(rt, stack_size, &s.stack);

    if (e < 0)
        return e;
    if (s.stack)
        s.runnable.of = &fi_start_is_sized;
    if (go(rt, w, s))
        return 0;
    if (s.stack)
        fi_fiber_stack_free(s.stack);
    return -ENOMEM;
}

int filch_go_attr(const filch_fiber_attr *attr, void (*body)(void *arg), void *arg)
{
    start s = {{NULL, run_start, NULL}, body, arg, attr ? attr->name : NULL, NULL};
    size_t stack_size = attr ? attr->stack_size : 0;

    fi_wait_chaos();
    fi_worker *w = fi_worker_self();
    fi_runtime *rt;
    int e;

    if (stack_size > FI_STACK_SIZE_MAX)
        return -EINVAL;
    if (w)
        return go_sized(w->runtime, w, s, stack_size);
    rt = fi_runtime_enter();
    e = go_sized(rt, NULL, s, stack_size);
    fi_runtime_leave(rt);
    return e;
}

fi_runnable *fi_start_prepare(fi_runtime *rt, fi_worker *w, void (*body)(void *arg), void *arg)
{
    start *r = alloc_record(rt, w);

    if (r)
        *r = (start){{NULL, run_start, NULL}, body, arg, NULL, NULL};
    return r ? &r->runnable : NULL;
}

void fi_start_cancel(fi_runtime *rt, fi_worker *w, fi_runnable *r)
{
    if (w) {
        fi_record_free(&w->records, r);
        return;
    }
    fi_lock_lock(&rt->external_lock);
    fi_record_free(&rt->external_records, r);
    fi_lock_unlock(&rt->external_lock);
}

void fi_start_submit(fi_worker *w, fi_runnable *r)
{
    submit(w->runtime, w, r);
}

static filch_fiber *start_on(fi_runtime *rt, fi_worker *w, const filch_fiber_attr *attr,
                             void *(*body)(void *arg), void *arg)
{
    fi_stack *s;
    fi_handle *h;

    if (reserve_stack(rt, attr ? attr->stack_size : 0, &s) < 0)
        return NULL;
    h = fi_handle_new(rt, w);
    if (!h) {
        if (s)
            fi_fiber_stack_free(s);
        return NULL;
    }
    h->body = body;
    h->arg = arg;
    h->name = attr ? attr->name : NULL;
    h->stack = s;
    h->runnable.run = run_handle;
    h->runnable.of = s ? &fi_start_is_sized : NULL;
    submit(rt, w, &h->runnable);
    return fi_handle_shown(h);
}

filch_fiber *filch_fiber_start_attr(const filch_fiber_attr *attr, void *(*body)(void *arg),
                                    void *arg)
{
    fi_wait_chaos();
    fi_worker *w = fi_worker_self();
    filch_fiber *h;
    fi_runtime *rt;

    if (attr && attr->stack_size > FI_STACK_SIZE_MAX)
        return NULL;
    if (w)
        return start_on(w->runtime, w, attr, body, arg);
    rt = fi_runtime_enter();
    h = start_on(rt, NULL, attr, body, arg);
    fi_runtime_leave(rt);
    return h;
}

filch_fiber *filch_fiber_start(void *(*body)(void *arg), void *arg)
{
    return filch_fiber_start_attr(NULL, body, arg);
}

/* ---- programs ---- */

typedef struct program {
    void (*body)(void *arg);
    void *arg;
} program;

static void *run_program(void *arg)
{
    const program *p = arg;
    const fi_worker *w = fi_worker_self();

    fi_store_relaxed(&fi_fiber_of_bounds(fi_load_relaxed(&w->current))->body, (uintptr_t)p->body);
    p->body(p->arg);
    return NULL;
}

int filch_main(void (*body)(void *arg), void *arg)
{
    program p = {body, arg};
    filch_fiber_attr attr = {.name = "main"};
    filch_fiber *f;

    if (fi_worker_self())
        return -EDEADLK;
    f = filch_fiber_start_attr(&attr, run_program, &p);
    if (!f)
        return -ENOMEM;
    filch_fiber_join(f, NULL);
    return filch_stop();
}
