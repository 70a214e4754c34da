/* Creation, reuse and release of fibers, and the main function of a fiber. */
#include "sched/fiber.h"

#include "sched/switch.h"

#include <string.h>

/* The max number of cached fibers per worker. */
#define FIBER_CACHE_MAX 64

/* Do the deferred work of the last runnable, unless the next one is of the same kind. */
static void fiber_run_deferred(fi_fiber *f, void (*kind)(fi_runnable *, fi_fiber *))
{
    if (f->deferred.run && !(f->work && f->work->run == kind))
        f->deferred.run(f);
}

void fi_fiber_run_at_end(fi_fiber *f)
{
    while (f->at_end) {
        fi_at_end *first = f->at_end;
        f->at_end = first->next;
        first->end(first, f);
    }
}

void fi_fiber_begin_function(fi_fiber *f, uintptr_t function)
{
    const fi_runtime *rt = f->worker->runtime;

    f->stack_bounds.name = rt->settings.name;
    fi_ctx_fpenv_load(&rt->fpenv);
    fi_store_relaxed(&f->body, function);
    fi_trace_begin(f, FI_WORK_JOB, NULL, function);
}

void fi_fiber_end_function(fi_fiber *f)
{
    if (f->at_end)
        fi_fiber_run_at_end(f);
    fi_trace_end_function(f);
    fi_store_relaxed(&f->body, 0);
}

/* [fiber] A fiber to switch to directly.  NULL: none is ready.  Or the ended fiber must be
 * destroyed, which its worker does on the scheduler stack. */
static fi_fiber *pick_after_end(fi_fiber *f)
{
    fi_worker *w = f->worker;

    if (fi_runq_size(&w->ready) == 0 || w->n_cached == FIBER_CACHE_MAX || f->pool ||
        w->runtime->in_fork_child || fi_worker_thread_must_stop(w->attached))
        return NULL;
    return fi_switch_pick_next(w);
}

/* [fiber] Its work has ended: switch to another fiber, or to the scheduler. */
static void fiber_leave(fi_fiber *f, fi_fiber *to)
{
    fi_after_switch_release(f->worker);
    fi_switch_to(f->worker, f, to, FI_SWITCH_END);
}

/* Most work ends without parking, and the worker has more unstarted work.  The same fiber then runs
 * that. */
static void fiber_main(void *arg)
{
    fi_fiber *f = arg, *to;

    fi_switch_entered(f->worker);
    for (;;) {
        void (*kind)(fi_runnable *, fi_fiber *) = f->work->run;
        f->stack_bounds.name = f->worker->runtime->settings.name;
        fi_trace_work(f, f->work);
        kind(f->work, f);
        if (f->at_end)
            fi_fiber_run_at_end(f);
        fi_trace_end(f);
        to = pick_after_end(f);
        f->work = to || f->worker->pending_pick ? NULL : fi_find_unstarted(f->worker);
        fiber_run_deferred(f, kind);
        if (f->work)
            fi_ctx_fpenv_load(&f->worker->runtime->fpenv);
        else
            fiber_leave(f, to);
    }
}

int fi_fiber_pool_init(fi_stack_pool *p, size_t stack_size)
{
    return fi_stack_pool_init(
        p, &(fi_stack_config){.stack_size = stack_size, .reserve = sizeof(fi_fiber)});
}

static fi_fiber *fiber_on(const fi_stack *s)
{
    return (fi_fiber *)(void *)(s->low + s->size);
}

/* ---- creation ---- */

/* Not while fi_fiber_foreach runs. */
static void fiber_set_made(fi_runtime *rt, fi_fiber *f, bool is_made)
{
    fi_lock_lock(&rt->fibers_lock);
    f->stack->in_use = is_made;
    fi_lock_unlock(&rt->fibers_lock);
}

/* A late thief may still send a request to the fiber that was here before, and the watchdog may
 * still read its body.  So the two bounds and the body are cleared by atomic stores. */
static void fiber_clear(fi_fiber *f)
{
    size_t bounds_end = offsetof(fi_fiber, bounds) + offsetof(fi_task_bounds, spawned);
    size_t body = offsetof(fi_fiber, body), body_end = body + sizeof f->body;

    fi_store_relaxed(&f->bounds.limit, NULL);
    fi_store_relaxed(&f->bounds.floor, NULL);
    fi_store_relaxed(&f->body, 0);
    memset((char *)f + bounds_end, 0, body - bounds_end);
    memset((char *)f + body_end, 0, sizeof *f - body_end);
}

/* pool: the pool of the stack if it has a size of its own, else NULL. */
static fi_fiber *fiber_make_on(fi_worker *w, fi_stack *s, fi_stack_pool *pool)
{
    fi_fiber *f = fiber_on(s);

    fiber_clear(f);
    f->stack = s;
    f->pool = pool;
    fi_store_relaxed(&f->cancel_state, (uint32_t)FI_CANCEL_OUTSIDE);
    f->stack_bounds = (fi_stack_bounds){
        .low = s->low,
        .size = s->size,
        .guard_size = (pool ? pool : &w->runtime->stack_pool)->guard_size,
        .name = w->runtime->settings.name,
    };
    fi_ctx_make(&f->ctx, s->low, s->size, fiber_main, f);
    fiber_set_made(w->runtime, f, true);
    fi_count(&w->counters.fibers_created);
    return f;
}

static fi_fiber *fiber_make(fi_worker *w)
{
    fi_stack *s;

    return fi_stack_alloc(&w->stacks, &s) < 0 ? NULL : fiber_make_on(w, s, NULL);
}

static void fiber_free_tasks(fi_fiber *f)
{
    if (f->tasks)
        f->tasks_free(f->tasks);
    f->tasks = NULL;
}

/* In the child of a fork() other threads may have held the locks of the pools. */
static void fiber_unmake(fi_worker *w, fi_fiber *f)
{
    if (w->runtime->in_fork_child)
        return;
    fiber_set_made(w->runtime, f, false);
    fiber_free_tasks(f);
    fi_ctx_fini(&f->ctx);
    if (f->pool) {
        fi_stack_check(f->stack, f->stack_bounds.name);
        fi_stack_pool_free(f->pool, f->stack);
    } else {
        fi_stack_free(&w->stacks, f->stack, f->stack_bounds.name);
    }
}

/* ---- acquire and release ---- */

static fi_fiber *take_cached_fiber(fi_worker *w)
{
    fi_fiber *f = w->fiber_cache;

    if (f) {
        w->fiber_cache = f->next_cached;
        w->n_cached--;
        fi_count(&w->counters.fibers_reused);
    }
    return f;
}

static fi_fiber *fiber_set_busy(fi_worker *w, fi_fiber *f)
{
    if (f) {
        w->n_busy++;
        fi_store_relaxed(&f->busy, 1u);
    }
    return f;
}

static fi_fiber *acquire_cached(fi_worker *w)
{
    return fiber_set_busy(w, take_cached_fiber(w));
}

fi_fiber *fi_fiber_acquire(fi_worker *w)
{
    fi_fiber *f = acquire_cached(w);

    return f ? f : fiber_set_busy(w, fiber_make(w));
}

void fi_fiber_assign(fi_fiber *f, fi_runnable *r, const fi_ctx_fpenv *modes)
{
    f->work = r;
    fi_ctx_fpenv_set(&f->ctx, modes);
}

/* In this file, so that acquiring the fiber is inlined. */
fi_fiber *fi_switch_for_unstarted(fi_worker *w, fi_runnable *r)
{
    fi_fiber *f = NULL;

    if (!r)
        r = fi_worker_take_unstarted(w);
    if (!r)
        return NULL;
    if (!r->stack)
        f = acquire_cached(w);
    if (f)
        fi_fiber_assign(f, r, &w->runtime->fpenv);
    else
        w->pending_pick = r;
    return f;
}

/* One pool per power of two, initialised when it is first needed. */
static fi_stack_pool *pool_of_size(fi_runtime *rt, size_t size)
{
    unsigned i = 0;
    fi_stack_pool *p;

    while (FI_FIBER_STACK_MIN << i < size)
        i++;
    fi_lock_lock(&rt->fibers_lock);
    p = &rt->sized_pools[i];
    if (p->stack_size == 0 && fi_fiber_pool_init(p, size) < 0)
        p = NULL;
    fi_lock_unlock(&rt->fibers_lock);
    return p;
}

fi_stack *fi_fiber_stack_new(fi_runtime *rt, size_t stack_size)
{
    fi_stack_pool *pool = pool_of_size(rt, stack_size);
    fi_stack *s;

    return pool && fi_stack_pool_alloc(pool, &s, 1) == 1 ? s : NULL;
}

void fi_fiber_stack_free(fi_stack *s)
{
    s->next = NULL;
    fi_stack_pool_free(fi_stack_pool_of(s), s);
}

fi_fiber *fi_fiber_acquire_sized(fi_worker *w, fi_stack *s)
{
    return fiber_set_busy(w, fiber_make_on(w, s, fi_stack_pool_of(s)));
}

#define RECORD_LINES 6 /* cache lines of a record that the next run of its fiber uses */
#define FRAME_LINES  8 /* cache lines of the frames directly below the record */

/* Many fibers end.  Those that are ready were probably parked for long, and each has its own page:
 * they are neither in the cache nor in the TLB.  Prefetch the one after the next, because the next
 * one runs too soon. */
static void prefetch_ready(fi_worker *w)
{
    fi_runnable *r = fi_runq_peek(&w->ready, fi_worker_lock_id(w), 1);

    if (!r)
        return;
    const char *record = (const char *)fi_fiber_of_ready(r);
    for (ptrdiff_t i = -FRAME_LINES; i < RECORD_LINES; i++)
        FI_PREFETCH(record + i * FI_CACHE_LINE);
}

void fi_fiber_release(fi_worker *w, fi_fiber *f)
{
    w->n_busy--;
    fi_store_relaxed(&f->busy, 0u);
    if (w->n_cached == FIBER_CACHE_MAX || f->pool) {
        prefetch_ready(w);
        fiber_unmake(w, f);
        return;
    }
    w->n_cached++;
    f->next_cached = w->fiber_cache;
    w->fiber_cache = f;
}

void fi_fiber_cache_drain(fi_worker *w)
{
    while (w->fiber_cache) {
        fi_fiber *f = w->fiber_cache;
        w->fiber_cache = f->next_cached;
        fiber_unmake(w, f);
    }
    w->n_cached = 0;
}

void fi_fiber_cache_enable(fi_runtime *rt)
{
    fi_stack_pool_enable_cache(&rt->stack_pool);
}

void fi_fiber_cache_begin_trim(fi_runtime *rt)
{
    fi_stack_pool_begin_trim(&rt->stack_pool);
}

bool fi_fiber_cache_trim(fi_runtime *rt)
{
    return fi_stack_pool_trim(&rt->stack_pool);
}

size_t fi_fiber_cache_size(fi_runtime *rt)
{
    return fi_stack_pool_n_dirty(&rt->stack_pool);
}

/* ---- iteration ---- */

typedef struct visitor {
    void (*visit)(fi_fiber *f, void *ctx);
    void *ctx;
} visitor;

static void visit_stack(fi_stack *s, void *arg)
{
    const visitor *v = arg;

    if (s->in_use)
        v->visit(fiber_on(s), v->ctx);
}

static void visit_pool(fi_stack_pool *p, visitor *v)
{
    if (p->stack_size > 0)
        fi_stack_pool_foreach(p, visit_stack, v);
}

void fi_fiber_foreach(fi_runtime *rt, void (*visit)(fi_fiber *f, void *ctx), void *ctx)
{
    visitor v = {visit, ctx};

    fi_lock_lock(&rt->fibers_lock);
    visit_pool(&rt->stack_pool, &v);
    for (int i = 0; i < FI_STACK_SIZES; i++)
        visit_pool(&rt->sized_pools[i], &v);
    fi_lock_unlock(&rt->fibers_lock);
}

void fi_fiber_flush(fi_fiber *f)
{
    fi_count_add(&f->worker->counters.spawned, f->bounds.spawned);
    f->bounds.spawned = 0;
}
