/* Starting fibers.  A detached fiber is a small record in a queue until it runs.  The record is
 * freed as soon as the fiber has copied it.  A joinable fiber is queued by its handle. */
#include "fiber/start.h"

#include "fiber/handle.h"
#include "sched/runtime.h"
#include "sched/tracepoint.h"
#include "sched/watchdog.h"

#include <errno.h>

typedef struct start_record {
    fi_runnable runnable; /* first: the queue entry */
    void (*body)(void *arg);
    void *arg;
    const char *name;
} start_record;

_Static_assert(sizeof(start_record) <= FI_RECORD_SIZE(FI_RECORD_SMALL), "must fit into a record");

/* ---- run ---- */

static void start_begin(fi_fiber *f, const char *name, uintptr_t body)
{
    if (name)
        f->stack_bounds.name = name;
    fi_store_relaxed(&f->body, body);
    f->work = NULL;
    fi_trace_begin(f, FI_WORK_FIBER, name, body);
}

static void start_end(fi_fiber *f)
{
    fi_store_relaxed(&f->body, 0);
    fi_count(&f->worker->counters.starts_ended);
}

static void run_detached(fi_runnable *r, fi_fiber *f)
{
    start_record s = *(start_record *)(void *)r;

    fi_record_pool_free(&f->worker->records[FI_RECORD_SMALL], r);
    start_begin(f, s.name, (uintptr_t)s.body);
    s.body(s.arg);
    start_end(f);
}

/* The fiber-local values are destroyed, and then the handle ends and the joiner is woken. */
static void run_joinable(fi_runnable *r, fi_fiber *f)
{
    fi_handle *h = (fi_handle *)(void *)r;

    start_begin(f, h->name, (uintptr_t)h->body);
    fi_handle_begin(h, f);
    h->arg = h->body(h->arg);
    fi_fiber_run_at_end(f);
    start_end(f);
}

/* ---- submit ---- */

/* A power of two, so that there are few stack pools. */
static size_t stack_size_round_up(size_t wanted)
{
    size_t size = FI_FIBER_STACK_MIN;

    while (size < wanted)
        size *= 2;
    return size;
}

/* Allocate the stack of a fiber that is about to be started.  A size of 0 gives NULL: the fiber
 * gets a stack when it runs.  A sized stack is mapped now, because only now can the start return
 * -ENOMEM. */
static int reserve_stack(fi_runtime *rt, size_t size, fi_stack **s)
{
    *s = NULL;
    if (size == 0)
        return 0;
    *s = fi_fiber_stack_new(rt, stack_size_round_up(size));
    return *s ? 0 : -ENOMEM;
}

static void start_submit(fi_runtime *rt, fi_worker *w, fi_runnable *r)
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

static inline __attribute__((always_inline)) bool start_detached(fi_runtime *rt, fi_worker *w,
                                                                 start_record s)
{
    start_record *r = fi_record_alloc(rt, w, FI_RECORD_SMALL);

    if (!r)
        return false;
    *r = s;
    start_submit(rt, w, &r->runnable);
    return true;
}

int filch_go(void (*body)(void *arg), void *arg)
{
    start_record s = {{.run = run_detached}, body, arg, NULL};

    fi_wait_chaos();
    fi_worker *w = fi_worker_self();
    fi_runtime *rt;
    bool started;

    if (w)
        return start_detached(w->runtime, w, s) ? 0 : -ENOMEM;
    rt = fi_runtime_enter();
    started = start_detached(rt, NULL, s);
    fi_runtime_leave(rt);
    return started ? 0 : -ENOMEM;
}

static int start_detached_sized(fi_runtime *rt, fi_worker *w, start_record s, size_t stack_size)
{
    int e = reserve_stack(rt, stack_size, &s.runnable.stack);

    if (e < 0)
        return e;
    if (start_detached(rt, w, s))
        return 0;
    if (s.runnable.stack)
        fi_fiber_stack_free(s.runnable.stack);
    return -ENOMEM;
}

int filch_go_attr(const filch_fiber_attr *attr, void (*body)(void *arg), void *arg)
{
    start_record s = {{.run = run_detached}, body, arg, attr ? attr->name : NULL};
    size_t stack_size = attr ? attr->stack_size : 0;

    fi_wait_chaos();
    fi_worker *w = fi_worker_self();
    fi_runtime *rt;
    int e;

    if (stack_size > FI_STACK_SIZE_MAX)
        return -EINVAL;
    if (w)
        return start_detached_sized(w->runtime, w, s, stack_size);
    rt = fi_runtime_enter();
    e = start_detached_sized(rt, NULL, s, stack_size);
    fi_runtime_leave(rt);
    return e;
}

fi_runnable *fi_start_prepare(fi_runtime *rt, fi_worker *w, void (*body)(void *arg), void *arg)
{
    start_record *r = fi_record_alloc(rt, w, FI_RECORD_SMALL);

    if (r)
        *r = (start_record){{.run = run_detached}, body, arg, NULL};
    return r ? &r->runnable : NULL;
}

void fi_start_cancel(fi_runtime *rt, fi_worker *w, fi_runnable *r)
{
    fi_record_free(rt, w, FI_RECORD_SMALL, r);
}

void fi_start_submit(fi_worker *w, fi_runnable *r)
{
    start_submit(w->runtime, w, r);
}

static filch_fiber *start_joinable(fi_runtime *rt, fi_worker *w, const filch_fiber_attr *attr,
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
    h->runnable = (fi_runnable){.run = run_joinable, .stack = s};
    start_submit(rt, w, &h->runnable);
    return fi_handle_to_user(h);
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
        return start_joinable(w->runtime, w, attr, body, arg);
    rt = fi_runtime_enter();
    h = start_joinable(rt, NULL, attr, body, arg);
    fi_runtime_leave(rt);
    return h;
}

filch_fiber *filch_fiber_start(void *(*body)(void *arg), void *arg)
{
    return filch_fiber_start_attr(NULL, body, arg);
}

/* ---- filch_main ---- */

typedef struct main_call {
    int (*main_fiber)(int argc, char **argv);
    int argc;
    char **argv;
    int status;
} main_call;

static void *run_main(void *arg)
{
    const main_call *p = arg;

    fi_store_relaxed(&fi_fiber_self()->body, (uintptr_t)p->main_fiber);
    p->status = p->main_fiber(p->argc, p->argv);
    return NULL;
}

static int main_fail(const char *why)
{
    fi_message(FILCH_LEVEL_ERROR, "filch_main: %s", why);
    return EXIT_FAILURE;
}

int filch_main(int (*main_fiber)(int argc, char **argv), int argc, char **argv)
{
    main_call p = {main_fiber, argc, argv, EXIT_FAILURE};
    filch_fiber_attr attr = {.name = "main"};
    filch_fiber *f;

    if (fi_worker_self())
        return -EDEADLK;
    f = filch_fiber_start_attr(&attr, run_main, &p);
    if (!f)
        return -ENOMEM;
    filch_fiber_join(f, NULL);
    return filch_stop();
}
