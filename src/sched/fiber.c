/* Making fibers, and going from a worker to a fiber and back. */
#include "sched/fiber.h"

#include "sched/switch.h"

#include <string.h>

/* So many fibers that have nothing to run are kept. */
#define FIBER_CACHE_MAX 64

/* Do what was left, unless more of the same kind comes. */
static void do_rest(fi_fiber *f, void (*kind)(fi_runnable *, fi_fiber *))
{
    if (f->rest && !(f->work && f->work->run == kind))
        f->rest(f);
}

void fi_fiber_end_fls(fi_fiber *f)
{
    if (f->fls)
        f->fls_end(f->fls);
    f->fls = NULL;
}

static void end_extras(fi_fiber *f)
{
    fi_fiber_end_fls(f);
    if (f->end_handle)
        f->end_handle(f);
    f->end_handle = NULL;
}

static bool commit_end(fi_fiber *f, void *worker)
{
    fi_fiber_release(worker, f);
    return true;
}

/* [fiber] A fiber to go on straight with.  Not where ours is unmade, which its own worker does. */
static fi_fiber *next_of(fi_fiber *f)
{
    fi_worker *w = f->worker;

    if (w->n_cached == FIBER_CACHE_MAX || f->pool || w->runtime->in_fork_child ||
        fi_worker_thread_must_stop(w->attached))
        return NULL;
    return fi_switch_pick_ready(w);
}

/* [fiber] Its work is done. */
static void part(fi_fiber *f, fi_fiber *to)
{
    fi_worker *w = f->worker;

    if (to) {
        w->after_switch.callback = commit_end;
        w->after_switch.arg = w;
    }
    fi_switch_to(w, f, to, FI_SWITCH_END);
}

/* Most work ends without having parked, and its worker has more that never ran: that needs no other fiber. */
static void fiber_main(void *arg)
{
    fi_fiber *f = arg, *to;

    fi_after_switch_run(f->worker);
    for (;;) {
        void (*kind)(fi_runnable *, fi_fiber *) = f->work->run;
        f->stack_bounds.name = f->worker->runtime->settings.name;
        fi_trace_work(f, f->work);
        kind(f->work, f);
        if (f->end_handle || f->fls)
            end_extras(f);
        fi_trace_end(f);
        to = next_of(f);
        f->work = to || f->worker->pending_pick ? NULL : fi_find_unstarted(f->worker);
        do_rest(f, kind);
        if (f->work)
            fi_ctx_fpenv_load(&f->worker->runtime->fpenv);
        else
            part(f, to);
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

/* ---- making ---- */

/* Not while somebody looks at all. */
static void set_made(fi_runtime *rt, fi_fiber *f, bool is_made)
{
    fi_lock_lock(&rt->fibers_lock);
    f->stack->in_use = is_made;
    fi_lock_unlock(&rt->fibers_lock);
}

/* Who is late may ask the one that was here before, or, the watcher, want to know what that runs: the two words of asks and
 * the body are cleared as what others read. */
static void clear(fi_fiber *f)
{
    size_t asks = offsetof(fi_fiber, bounds) + offsetof(fi_task_bounds, spawned);
    size_t body = offsetof(fi_fiber, body), behind = body + sizeof f->body;

    fi_store_relaxed(&f->bounds.limit, NULL);
    fi_store_relaxed(&f->bounds.floor, NULL);
    fi_store_relaxed(&f->body, 0);
    memset((char *)f + asks, 0, body - asks);
    memset((char *)f + behind, 0, sizeof *f - behind);
}

/* pool: the pool of the stack if that has a size of its own, else NULL. */
static fi_fiber *make_on(fi_worker *w, fi_stack *s, fi_stack_pool *pool)
{
    fi_fiber *f = fiber_on(s);

    clear(f);
    f->stack = s;
    f->pool = pool;
    f->stack_bounds = (fi_stack_bounds){
        .low = s->low,
        .size = s->size,
        .guard_size = (pool ? pool : &w->runtime->stack_pool)->guard_size,
        .name = w->runtime->settings.name,
    };
    fi_ctx_make(&f->ctx, s->low, s->size, fiber_main, f);
    set_made(w->runtime, f, true);
    fi_count(&w->counters.fibers_created);
    return f;
}

static fi_fiber *make(fi_worker *w)
{
    fi_stack *s;

    return fi_stack_alloc(&w->stacks, &s) < 0 ? NULL : make_on(w, s, NULL);
}

static void free_tasks(fi_fiber *f)
{
    if (f->tasks)
        f->tasks_free(f->tasks);
    f->tasks = NULL;
}

/* In the child of a fork() other threads may have held the locks of the pools. */
static void unmake(fi_worker *w, fi_fiber *f)
{
    if (w->runtime->in_fork_child)
        return;
    set_made(w->runtime, f, false);
    free_tasks(f);
    fi_ctx_fini(&f->ctx);
    if (f->pool) {
        fi_stack_check(f->stack, f->stack_bounds.name);
        fi_stack_pool_put(f->pool, f->stack);
    } else {
        fi_stack_free(&w->stacks, f->stack, f->stack_bounds.name);
    }
}

/* ---- getting and putting ---- */

static fi_fiber *take_warm(fi_worker *w)
{
    fi_fiber *f = w->fiber_cache;

    if (f) {
        w->fiber_cache = f->next_cached;
        w->n_cached--;
        fi_count(&w->counters.fibers_reused);
    }
    return f;
}

static fi_fiber *counted(fi_worker *w, fi_fiber *f)
{
    if (f) {
        w->n_busy++;
        fi_store_relaxed(&f->busy, 1u);
    }
    return f;
}

fi_fiber *fi_fiber_acquire_cached(fi_worker *w)
{
    return counted(w, take_warm(w));
}

fi_fiber *fi_fiber_acquire(fi_worker *w)
{
    fi_fiber *f = fi_fiber_acquire_cached(w);

    return f ? f : counted(w, make(w));
}

void fi_fiber_assign(fi_fiber *f, fi_runnable *r, const fi_ctx_fpenv *modes)
{
    f->work = r;
    fi_ctx_fpenv_set(&f->ctx, modes);
}

/* One for each power of two, made when it is first needed. */
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

    return pool && fi_stack_pool_get(pool, &s, 1) == 1 ? s : NULL;
}

void fi_fiber_stack_free(fi_stack *s)
{
    s->next = NULL;
    fi_stack_pool_put(fi_stack_pool_of(s), s);
}

fi_fiber *fi_fiber_acquire_sized(fi_worker *w, fi_stack *s)
{
    return counted(w, make_on(w, s, fi_stack_pool_of(s)));
}

void fi_fiber_release(fi_worker *w, fi_fiber *f)
{
    w->n_busy--;
    fi_store_relaxed(&f->busy, 0u);
    if (w->n_cached == FIBER_CACHE_MAX || f->pool) {
        unmake(w, f);
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
        unmake(w, f);
    }
    w->n_cached = 0;
}

void fi_fiber_cache_enable(fi_runtime *rt)
{
    fi_stack_pool_enable_cache(&rt->stack_pool);
}

size_t fi_fiber_cache_trim(fi_runtime *rt)
{
    return fi_stack_pool_trim(&rt->stack_pool);
}

/* ---- all ---- */

typedef struct visitor {
    void (*visit)(fi_fiber *f, void *ctx);
    void *ctx;
} visitor;

static void visit_on(fi_stack *s, void *arg)
{
    const visitor *v = arg;

    if (s->in_use)
        v->visit(fiber_on(s), v->ctx);
}

static void visit_pool(fi_stack_pool *p, visitor *v)
{
    if (p->stack_size > 0)
        fi_stack_pool_foreach(p, visit_on, v);
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
