/* Starting fibers.  One that nobody waits for is a small record in a queue until it runs, and that record is taken back as
 * soon as somebody has read it; so is the handle of one that somebody waits for. */
#include "sched/handle.h"
#include "sched/locals.h"
#include "sched/point.h"
#include "sched/runtime.h"
#include "sched/watch.h"

#include <errno.h>

typedef struct start {
    fi_runnable runnable; /* first: it is what stands in a queue */
    void (*body)(void *arg);
    void *arg;
    filch_fiber_attr attr;
} start;

_Static_assert(sizeof(start) <= sizeof(fi_record), "a start is a record");

/* ---- run ---- */

static void begin(fi_fiber *f, const char *name, uintptr_t body)
{
    if (name)
        f->mark.name = name;
    fi_store_relaxed(&f->body, body);
    f->work = NULL;
    fi_point_begin(f, FI_WORK_FIBER, name, body);
}

/* In the child of a fork() there is nobody to tell. */
static void end(fi_fiber *f)
{
    fi_store_relaxed(&f->body, 0);
    fi_count(&f->worker->counters.starts_ended);
}

static void run_start(fi_runnable *r, fi_fiber *f)
{
    start s = *(start *)(void *)r;

    fi_record_put(&f->worker->records, r);
    begin(f, s.attr.name, (uintptr_t)s.body);
    s.body(s.arg);
    end(f);
}

/* Who joins may look for what the fiber had of its own: that is destroyed before. */
static void run_handle(fi_runnable *r, fi_fiber *f)
{
    fi_handle *h = (fi_handle *)(void *)r;
    void *result;

    begin(f, h->attr.name, (uintptr_t)h->body);
    fi_handle_begin(h, f);
    result = h->body(h->arg);
    fi_fiber_end_locals(f);
    if (!f->worker->runtime->orphaned)
        fi_handle_end(h, result);
    end(f);
}

const char fi_start_is_sized;

size_t fi_start_stack_size_of(const fi_runnable *r)
{
    return r->run == run_start ? ((const start *)(const void *)r)->attr.stack_size
                               : ((const fi_handle *)(const void *)r)->attr.stack_size;
}

/* ---- give ---- */

/* A power of two, so that there are few kinds of them. */
static int settle(const filch_fiber_attr *from, filch_fiber_attr *to)
{
    size_t size = FI_FIBER_STACK_MIN;

    *to = from ? *from : (filch_fiber_attr){0};
    if (to->stack_size == 0)
        return 0;
    if (to->stack_size > FI_STACK_SIZE_MAX)
        return -EINVAL;
    while (size < to->stack_size)
        size *= 2;
    to->stack_size = size;
    return 0;
}

static void *get_record(fi_runtime *rt, fi_worker *w)
{
    void *r;

    if (w)
        return fi_record_get(&w->records);
    fi_lock_lock(&rt->outside_lock);
    r = fi_record_get(&rt->outside);
    fi_lock_unlock(&rt->outside_lock);
    return r;
}

static void give(fi_runtime *rt, fi_worker *w, fi_runnable *r)
{
    if (!fi_load_relaxed(&rt->watch.begun))
        fi_watch_start(rt);
    if (w) {
        fi_count(&w->counters.starts_given);
        fi_give(w, r);
    } else {
        fi_fetch_add_relaxed(&rt->jobs_from_outside, UINT64_C(1));
        fi_submit(rt, r);
    }
}

static bool go(fi_runtime *rt, fi_worker *w, start s)
{
    start *r = get_record(rt, w);

    if (!r)
        return false;
    *r = s;
    give(rt, w, &r->runnable);
    return true;
}

static bool go_anywhere(start s)
{
    fi_wait_chaos();
    fi_worker *w = fi_worker_self();
    fi_runtime *rt;
    bool gone;

    if (w)
        return go(w->runtime, w, s);
    rt = fi_runtime_enter();
    gone = go(rt, NULL, s);
    fi_runtime_leave(rt);
    return gone;
}

int filch_go(void (*body)(void *arg), void *arg)
{
    return go_anywhere((start){{NULL, run_start, NULL}, body, arg, {NULL, 0}}) ? 0 : -ENOMEM;
}

int filch_go_with(const filch_fiber_attr *attr, void (*body)(void *arg), void *arg)
{
    start s = {{NULL, run_start, NULL}, body, arg, {NULL, 0}};
    int e = settle(attr, &s.attr);

    if (e < 0)
        return e;
    if (s.attr.stack_size)
        s.runnable.of = &fi_start_is_sized;
    return go_anywhere(s) ? 0 : -ENOMEM;
}

fi_runnable *fi_start_new(fi_runtime *rt, fi_worker *w, void (*body)(void *arg), void *arg)
{
    start *r = get_record(rt, w);

    if (r)
        *r = (start){{NULL, run_start, NULL}, body, arg, {NULL, 0}};
    return r ? &r->runnable : NULL;
}

void fi_start_drop(fi_runtime *rt, fi_worker *w, fi_runnable *r)
{
    if (w) {
        fi_record_put(&w->records, r);
        return;
    }
    fi_lock_lock(&rt->outside_lock);
    fi_record_put(&rt->outside, r);
    fi_lock_unlock(&rt->outside_lock);
}

void fi_start_give(fi_worker *w, fi_runnable *r)
{
    give(w->runtime, w, r);
}

static filch_fiber *start_on(fi_runtime *rt, fi_worker *w, const filch_fiber_attr *attr,
                             void *(*body)(void *arg), void *arg)
{
    fi_handle *h = fi_handle_new(rt, w);

    if (!h)
        return NULL;
    h->body = body;
    h->arg = arg;
    h->attr = *attr;
    h->runnable.run = run_handle;
    h->runnable.of = attr->stack_size ? &fi_start_is_sized : NULL;
    give(rt, w, &h->runnable);
    return fi_handle_shown(h);
}

filch_fiber *filch_fiber_start_with(const filch_fiber_attr *attr, void *(*body)(void *arg),
                                    void *arg)
{
    fi_wait_chaos();
    fi_worker *w = fi_worker_self();
    filch_fiber_attr settled;
    filch_fiber *h;
    fi_runtime *rt;

    if (settle(attr, &settled) < 0)
        return NULL;
    if (w)
        return start_on(w->runtime, w, &settled, body, arg);
    rt = fi_runtime_enter();
    h = start_on(rt, NULL, &settled, body, arg);
    fi_runtime_leave(rt);
    return h;
}

filch_fiber *filch_fiber_start(void *(*body)(void *arg), void *arg)
{
    return filch_fiber_start_with(NULL, body, arg);
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

    fi_store_relaxed(&fi_fiber_of_fork(fi_load_relaxed(&w->current))->body, (uintptr_t)p->body);
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
    f = filch_fiber_start_with(&attr, run_program, &p);
    if (!f)
        return -ENOMEM;
    filch_fiber_join(f, NULL);
    return filch_stop();
}
