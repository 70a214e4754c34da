/* Handles: joining, detaching, cancelling, and what a fiber asks about itself. */
#include "fiber/handle.h"

#include "base/message.h"
#include "sched/runtime.h"
#include "sched/span.h"
#include "sched/switch.h"
#include "sched/tracepoint.h"
#include "wait/cancel.h"

#include <errno.h>
#include <stddef.h>

/* ---- records ---- */

fi_handle *fi_handle_new(fi_runtime *rt, fi_worker *w)
{
    fi_handle *h = fi_record_alloc(rt, w, FI_RECORD_HANDLE);

    if (!h)
        return NULL;
    h->joiner.first = NULL;
    h->fiber = NULL;
    h->runtime = rt->number;
    h->ended = h->detached = h->cancelled = false;
    return h;
}

/* A handle may outlive its runtime.  rt: the runtime, kept running by the caller; NULL: none runs.
 * w: the caller's worker, or NULL. */
static void handle_free_in(fi_runtime *rt, fi_worker *w, fi_handle *h)
{
    if (!rt || h->runtime != rt->number)
        fi_record_orphan_free(h->runtime, h, FI_RECORD_SIZE(FI_RECORD_HANDLE));
    else
        fi_record_free(rt, w, FI_RECORD_HANDLE, h);
}

static void handle_free(fi_handle *h)
{
    fi_worker *w = fi_worker_self();

    h->generation++;
    if (w) {
        handle_free_in(w->runtime, w, h);
        return;
    }
    handle_free_in(fi_runtime_lock_running(), NULL, h);
    fi_runtime_unlock_running();
}

/* ---- the fiber's side ---- */

/* Does nothing in the child of a fork: another thread may have held the lock. */
static void handle_end(fi_at_end *at_end, fi_fiber *f)
{
    fi_handle *h = f->handle;
    fi_waiter *joiner;
    bool is_last;

    (void)at_end;
    if (f->worker->runtime->in_fork_child)
        return;
    FI_SPAN(join(h));
    fi_obj_lock(&h->lock);
    h->fiber = NULL;
    h->ended = true;
    is_last = h->detached;
    joiner = fi_waitq_pop(&h->joiner);
    if (joiner)
        joiner->result = 0;
    fi_obj_unlock(&h->lock);
    f->handle = NULL;
    fi_fiber_wait_unpinned(f);
    fi_cancel_clear(f);
    if (joiner)
        fi_waiter_wake(joiner);
    if (is_last) {
        FI_SPAN(reset(h));
        handle_free(h);
    }
}

/* The handle ends last: the destructors of fiber-local storage may use it. */
void fi_handle_begin(fi_handle *h, fi_fiber *f)
{
    h->at_end.end = handle_end;
    fi_fiber_end_last(f, &h->at_end);
    fi_obj_lock(&h->lock);
    h->fiber = f;
    f->handle = h;
    if (h->cancelled)
        fi_cancel_set(f);
    fi_obj_unlock(&h->lock);
}

/* ---- the starter's side ---- */

/* [lock held] */
static void handle_check_unclaimed(const fi_handle *h, const char *function)
{
    if (h->detached)
        fi_fatal("%s: the handle was already joined or detached", function);
    if (h->joiner.first)
        fi_fatal("%s: another caller is joining the handle", function);
}

/* Inlined, so that backtraces show the function that the user called. */
FI_INLINE int handle_join_until(fi_handle *h, void **result, int64_t deadline, const char *function)
{
    const fi_fiber *me = fi_fiber_self();
    fi_waiter w;
    int e = 0;

    if (!h)
        return fi_message_null(function, "f", "a fiber of filch_fiber_start");
    if (me && me->handle == h)
        return -EDEADLK;
    fi_waiter_init(&w, NULL);
    fi_obj_lock(&h->lock);
    handle_check_unclaimed(h, function);
    if (h->ended)
        fi_obj_unlock(&h->lock);
    else
        e = fi_waitq_wait(&w, &h->joiner, &h->lock, (fi_wait_reason){"join", fi_handle_to_user(h)},
                          deadline);
    if (e < 0)
        return e;
    FI_SPAN(collect(h));
    if (result)
        *result = h->arg;
    handle_free(h);
    return 0;
}

int filch_fiber_join_until(filch_fiber *f, void **result, int64_t deadline)
{
    fi_wait_chaos();
    return handle_join_until(fi_handle_of(f, __func__), result, deadline, __func__);
}

int filch_fiber_join(filch_fiber *f, void **result)
{
    fi_wait_chaos();
    return handle_join_until(fi_handle_of(f, __func__), result, FI_TIMER_NEVER, __func__);
}

void filch_fiber_detach(filch_fiber *f)
{
    fi_wait_chaos();
    fi_handle *h = fi_handle_of(f, __func__);
    bool is_last;

    if (!h)
        return;
    fi_obj_lock(&h->lock);
    handle_check_unclaimed(h, __func__);
    is_last = h->ended;
    h->detached = true;
    fi_obj_unlock(&h->lock);
    if (is_last)
        handle_free(h);
}

/* Also for a detached fiber, because other code may have its handle from filch_fiber_self. */
void filch_fiber_cancel(filch_fiber *user)
{
    fi_wait_chaos();
    fi_handle *h = fi_handle_of(user, __func__);
    fi_fiber *f;

    if (!h)
        return;
    fi_obj_lock(&h->lock);
    h->cancelled = true;
    f = h->fiber;
    if (f)
        fi_fiber_pin(f);
    fi_obj_unlock(&h->lock);
    if (!f)
        return;
    fi_cancel_fiber(f);
    fi_fiber_unpin(f);
}

/* ---- the calling fiber ---- */

bool filch_fiber_is_cancelled(void)
{
    fi_fiber *f = fi_fiber_self();

    return f && fi_cancel_check(f);
}

bool filch_fiber_uncancel(void)
{
    fi_fiber *f = fi_fiber_self();

    return f && fi_cancel_check(f) && fi_cancel_undo(f);
}

/* NULL: the fiber has no name of its own.  Messages then show the name of the runtime. */
static const char *fiber_own_name(const fi_fiber *f)
{
    const char *name = f->stack_bounds.name;

    return name == f->worker->runtime->settings.name ? NULL : name;
}

/* A handle for a fiber that was started without one.  It is detached: only the fiber frees it. */
static fi_handle *handle_new_self(fi_fiber *f)
{
    fi_handle *h = fi_handle_new(f->worker->runtime, f->worker);

    if (!h)
        return NULL;
    h->detached = true;
    h->name = fiber_own_name(f);
    fi_handle_begin(h, f);
    return h;
}

filch_fiber *filch_fiber_self(void)
{
    fi_fiber *f = fi_fiber_self();
    fi_handle *h = f ? f->handle : NULL;

    if (f && !h)
        h = handle_new_self(f);
    return h ? fi_handle_to_user(h) : NULL;
}

void filch_fiber_set_name(const char *name)
{
    fi_fiber *f = fi_fiber_self();

    if (!f)
        return;
    f->stack_bounds.name = name ? name : f->worker->runtime->settings.name;
    fi_trace_name(f, name);
    if (f->handle)
        f->handle->name = name;
}

const char *filch_fiber_name(const filch_fiber *user)
{
    const fi_fiber *f;

    if (user)
        return fi_handle_of(user, __func__)->name;
    f = fi_fiber_self();
    return f ? fiber_own_name(f) : NULL;
}

void filch_yield(void)
{
    fi_wait_yield();
}
