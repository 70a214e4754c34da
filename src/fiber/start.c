/* Starting fibers.  A detached fiber is a small record in a queue until it runs.  The record is
 * freed as soon as the fiber has copied it.  A joinable fiber is queued by its handle. */
#include "fiber/start.h"

#include "base/message.h"
#include "base/sized.h"
#include "fiber/handle.h"
#include "sched/bound.h"
#include "sched/runtime.h"
#include "sched/span.h"
#include "sched/watchdog.h"

#include <errno.h>
#include <stdlib.h>

typedef struct start_record {
    fi_runnable runnable; /* first: the queue entry */
    void (*body)(void *arg);
    void *arg;
    const char *name;
} start_record;

_Static_assert(sizeof(start_record) <= FI_RECORD_SIZE(FI_RECORD_SMALL), "must fit into a record");

/* ---- run ---- */

static void run_detached(fi_runnable *r, fi_fiber *f)
{
    start_record s = *(start_record *)(void *)r;

    fi_record_pool_free(&f->worker->records[FI_RECORD_SMALL], r);
    fi_start_begin(f, s.name, (uintptr_t)s.body);
    s.body(s.arg);
    fi_start_end(f);
}

/* The fiber-local values are destroyed, and then the handle ends and the joiner is woken. */
static void run_joinable(fi_runnable *r, fi_fiber *f)
{
    fi_handle *h = (fi_handle *)(void *)r;

    fi_start_begin(f, h->name, (uintptr_t)h->body);
    fi_handle_begin(h, f);
    h->arg = h->body(h->arg);
    fi_fiber_run_at_end(f);
    fi_start_end(f);
}

/* The fiber-local values of a bound fiber are destroyed on its thread as well. */
static void run_detached_bound(fi_runnable *r, fi_fiber *f)
{
    fi_bound_begin(f);
    run_detached(r, f);
    fi_fiber_run_at_end(f);
    fi_bound_end(f);
}

static void run_joinable_bound(fi_runnable *r, fi_fiber *f)
{
    fi_bound_begin(f);
    run_joinable(r, f);
    fi_bound_end(f);
}

/* ---- submit ---- */

static int body_is_null(const char *function)
{
    return fi_message_null(function, "body", "a function");
}

static int stack_size_error(const char *function, size_t size)
{
    return fi_message_invalid("%s: stack_size: too large (%zu); use up to %zu", function, size,
                              FI_STACK_SIZE_MAX);
}

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
 * -ENOMEM.  So is the stack of a bound fiber (sched/bound.h). */
static int reserve_stack(fi_runtime *rt, const filch_fiber_attr *attr, fi_stack **s)
{
    size_t size = attr ? attr->stack_size : 0;

    *s = NULL;
    if (size == 0 && attr && attr->bound)
        size = rt->settings.stack_size;
    if (size == 0)
        return 0;
    *s = fi_fiber_stack_new(rt, stack_size_round_up(size));
    return *s ? 0 : -ENOMEM;
}

static void start_submit_bound(fi_runtime *rt, fi_worker *w, fi_runnable *r)
{
    if (!fi_load_relaxed(&rt->watchdog.started))
        fi_watchdog_start(rt);
    if (w)
        fi_count(&w->counters.starts_given);
    else
        fi_fetch_add_relaxed(&rt->n_external_submits, UINT64_C(1));
    FI_SPAN(inherit(r));
    fi_bound_submit(rt, r);
}

FI_INLINE void start_submit(fi_runtime *rt, fi_worker *w, fi_runnable *r)
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
    if (FI_UNLIKELY(!rt))
        return fi_runtime_start_error();
    started = start_detached(rt, NULL, s);
    fi_runtime_leave(rt);
    return started ? 0 : -ENOMEM;
}

static int start_detached_attr(fi_runtime *rt, fi_worker *w, const filch_fiber_attr *attr,
                               start_record s)
{
    start_record *r;
    int e = reserve_stack(rt, attr, &s.runnable.stack);

    if (e < 0)
        return e;
    r = fi_record_alloc(rt, w, FI_RECORD_SMALL);
    if (!r) {
        if (s.runnable.stack)
            fi_fiber_stack_free(s.runnable.stack);
        return -ENOMEM;
    }
    *r = s;
    if (attr->bound)
        start_submit_bound(rt, w, &r->runnable);
    else
        start_submit(rt, w, &r->runnable);
    return 0;
}

int filch_go_attr_(const filch_fiber_attr *given, size_t size, void (*body)(void *arg), void *arg)
{
    filch_fiber_attr attr;
    int e = fi_sized_read("filch_go_attr", &attr, sizeof attr, given, size);

    if (e < 0)
        return e;
    start_record s = {
        {.run = attr.bound ? run_detached_bound : run_detached}, body, arg, attr.name};

    fi_wait_chaos();
    fi_worker *w = fi_worker_self();
    fi_runtime *rt;

    if (!body)
        return body_is_null("filch_go_attr");
    if (attr.stack_size > FI_STACK_SIZE_MAX)
        return stack_size_error("filch_go_attr", attr.stack_size);
    if (w)
        return start_detached_attr(w->runtime, w, &attr, s);
    rt = fi_runtime_enter();
    if (!rt)
        return fi_runtime_start_error();
    e = start_detached_attr(rt, NULL, &attr, s);
    fi_runtime_leave(rt);
    return e;
}

void fi_start_submit(fi_worker *w, fi_runnable *r)
{
    start_submit(w->runtime, w, r);
}

FI_INLINE filch_fiber *start_joinable(fi_runtime *rt, fi_worker *w, const filch_fiber_attr *attr,
                                      void *(*body)(void *arg), void *arg)
{
    bool bound = attr && attr->bound;
    fi_stack *s;
    fi_handle *h;

    if (reserve_stack(rt, attr, &s) < 0)
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
    h->runnable = (fi_runnable){.run = bound ? run_joinable_bound : run_joinable, .stack = s};
    if (bound)
        start_submit_bound(rt, w, &h->runnable);
    else
        start_submit(rt, w, &h->runnable);
    return fi_handle_to_user(h);
}

static FI_NOINLINE filch_fiber *start_without_body(const char *function)
{
    body_is_null(function);
    return NULL;
}

static filch_fiber *start_fiber(const filch_fiber_attr *attr, void *(*body)(void *arg), void *arg)
{
    fi_wait_chaos();
    fi_worker *w = fi_worker_self();
    filch_fiber *h;
    fi_runtime *rt;

    if (attr && attr->stack_size > FI_STACK_SIZE_MAX) {
        stack_size_error("filch_fiber_start_attr", attr->stack_size);
        return NULL;
    }
    if (w)
        return start_joinable(w->runtime, w, attr, body, arg);
    rt = fi_runtime_enter();
    if (!rt)
        return NULL;
    h = start_joinable(rt, NULL, attr, body, arg);
    fi_runtime_leave(rt);
    return h;
}

filch_fiber *filch_fiber_start_attr_(const filch_fiber_attr *given, size_t size,
                                     void *(*body)(void *arg), void *arg)
{
    filch_fiber_attr attr;

    if (fi_sized_read("filch_fiber_start_attr", &attr, sizeof attr, given, size) < 0)
        return NULL;
    return body ? start_fiber(&attr, body, arg) : start_without_body("filch_fiber_start_attr");
}

filch_fiber *filch_fiber_start(void *(*body)(void *arg), void *arg)
{
    return FI_LIKELY(body) ? start_fiber(NULL, body, arg) : start_without_body("filch_fiber_start");
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
    main_call *p = arg;

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

    if (!main_fiber)
        return main_fail("main_fiber is NULL; pass a function");
    if (fi_worker_self())
        return main_fail("called from a fiber; call it from the main function");
    if (filch_start(NULL) < 0)
        return main_fail("the runtime cannot be started");
    f = filch_fiber_start_attr(&attr, run_main, &p);
    if (f)
        filch_fiber_join(f, NULL);
    filch_stop();
    return f ? p.status : main_fail("there is no memory for the main fiber");
}
