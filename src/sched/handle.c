#include "sched/handle.h"

#include "base/mistake.h"
#include "sched/path.h"
#include "sched/point.h"
#include "sched/runtime.h"

#include <errno.h>
#include <stddef.h>

/* ---- how many there are ---- */

static filch_fiber *get_outside(fi_runtime *rt)
{
    filch_fiber *h;

    fi_lock_lock(&rt->outside_lock);
    h = fi_record_get(&rt->outside_handle_records);
    if (h)
        rt->outside_handles++;
    fi_lock_unlock(&rt->outside_lock);
    return h;
}

static filch_fiber *get_on_worker(fi_worker *w)
{
    filch_fiber *h = fi_record_get(&w->handle_records);

    if (h)
        w->handles++;
    return h;
}

filch_fiber *fi_handle_new(fi_runtime *rt, fi_worker *w)
{
    filch_fiber *h = w ? get_on_worker(w) : get_outside(rt);

    if (!h)
        return NULL;
    h->joiner.first = NULL;
    h->fiber = NULL;
    h->runtime = rt->number;
    h->ended = h->detached = h->cancelled = false;
    return h;
}

bool fi_handles_are_open(const fi_runtime *rt)
{
    long n = rt->outside_handles;

    for (unsigned i = 0; i < rt->workers_n; i++)
        n += rt->workers[i].handles;
    return n != 0;
}

void fi_handles_fini(const fi_runtime *rt, fi_record_pool *p)
{
    if (rt->handles_are_open)
        fi_record_pool_abandon(p);
    else
        fi_record_pool_fini(p);
}

static void put_on_worker(filch_fiber *h, fi_worker *w)
{
    if (h->runtime != w->runtime->number)
        return;
    w->handles--;
    fi_record_put(&w->handle_records, h);
}

/* A handle may outlive its runtime, whose records then stay where they are. */
static void put_record(filch_fiber *h)
{
    fi_worker *w = fi_worker_self();
    fi_runtime *rt;

    if (w) {
        put_on_worker(h, w);
        return;
    }
    rt = fi_runtime_look();
    if (rt && rt->number == h->runtime) {
        fi_lock_lock(&rt->outside_lock);
        rt->outside_handles--;
        fi_record_put(&rt->outside_handle_records, h);
        fi_lock_unlock(&rt->outside_lock);
    }
    fi_runtime_look_end();
}

static fi_fiber *current(void)
{
    fi_worker *w = fi_worker_self();

    return w ? fi_fiber_of_fork(fi_load_relaxed(&w->current)) : NULL;
}

/* ---- the fiber's side ---- */

void fi_handle_begin(filch_fiber *h, fi_fiber *f)
{
    fi_hold(&h->latch);
    h->fiber = f;
    f->handle = h;
    if (h->cancelled)
        fi_store_relaxed(&f->cancelled, 1u);
    fi_let_go(&h->latch);
}

void fi_handle_end(filch_fiber *h, void *result)
{
    fi_fiber *f = h->fiber;
    fi_wait *joiner;
    bool is_last;

    FI_PATH(end_in(h));
    fi_hold(&h->latch);
    h->fiber = NULL;
    h->ended = true;
    h->arg = result;
    is_last = h->detached;
    joiner = fi_line_take(&h->joiner);
    if (joiner)
        joiner->result = 0;
    fi_let_go(&h->latch);
    f->handle = NULL;
    fi_wait_leave_alone(f);
    fi_store_relaxed(&f->cancelled, 0u);
    if (joiner)
        fi_wait_end(joiner);
    if (is_last) {
        FI_PATH(forget(h));
        put_record(h);
    }
}

/* ---- the starter's side ---- */

int filch_fiber_join_until(filch_fiber *h, void **result, int64_t deadline)
{
    fi_wait_chaos();
    const fi_fiber *me = current();
    fi_wait w;
    int e = 0;

    if (!h)
        return -EINVAL;
    if (me && me->handle == h)
        return -EDEADLK;
    fi_wait_init(&w, NULL);
    fi_hold(&h->latch);
    if (h->ended)
        fi_let_go(&h->latch);
    else
        e = fi_wait_in(&w, &h->joiner, &h->latch, (fi_wait_for){"join", h}, deadline);
    if (e < 0)
        return e;
    FI_PATH(take_from(h));
    if (result)
        *result = h->arg;
    put_record(h);
    return 0;
}

int filch_fiber_join(filch_fiber *h, void **result)
{
    return filch_fiber_join_until(h, result, FI_TIMER_NEVER);
}

void filch_fiber_detach(filch_fiber *h)
{
    fi_wait_chaos();
    bool is_last;

    if (!h)
        return;
    fi_hold(&h->latch);
    is_last = h->ended;
    h->detached = true;
    fi_let_go(&h->latch);
    if (is_last)
        put_record(h);
}

void filch_fiber_cancel(filch_fiber *h)
{
    fi_wait_chaos();
    fi_fiber *f;

    if (!h)
        return;
    fi_hold(&h->latch);
    h->cancelled = true;
    f = h->fiber;
    if (f)
        fi_wait_pin(f);
    fi_let_go(&h->latch);
    if (!f)
        return;
    fi_cancel_all(f);
    fi_wait_unpin(f);
}

/* ---- oneself ---- */

bool filch_fiber_cancelled(void)
{
    fi_fiber *f = current();

    return f && fi_load_relaxed(&f->cancelled);
}

bool filch_fiber_uncancel(void)
{
    fi_fiber *f = current();

    if (!f || !fi_load_relaxed(&f->cancelled))
        return false;
    fi_cancel_undo(f);
    return true;
}

static void end_own(fi_fiber *f)
{
    fi_handle_end(f->handle, NULL);
}

/* Messages call one that has no name as the runtime is called. */
static const char *own_name(const fi_fiber *f)
{
    const char *name = f->mark.name;

    return name == f->worker->runtime->settings.name ? NULL : name;
}

/* One that was started without a handle gets one, which is nobody else's. */
static filch_fiber *make_own(fi_fiber *f)
{
    filch_fiber *h = fi_handle_new(f->worker->runtime, f->worker);

    if (!h)
        return NULL;
    h->detached = true;
    h->attr = (filch_fiber_attr){own_name(f), 0};
    fi_handle_begin(h, f);
    f->end_handle = end_own;
    return h;
}

filch_fiber *filch_fiber_self(void)
{
    fi_fiber *f = current();

    if (!f)
        return NULL;
    return f->handle ? f->handle : make_own(f);
}

void filch_fiber_set_name(const char *name)
{
    fi_fiber *f = current();

    if (!f)
        return;
    f->mark.name = name ? name : f->worker->runtime->settings.name;
    fi_point_name(f, name);
    if (f->handle)
        f->handle->attr.name = name;
}

const char *filch_fiber_name(const filch_fiber *h)
{
    const fi_fiber *f;

    if (h)
        return h->attr.name;
    f = current();
    return f ? own_name(f) : NULL;
}

void filch_yield(void)
{
    fi_wait_yield();
}
