/* Making fibers, and going from a worker to a fiber and back. */
#include "sched/fiber.h"

#include "base/mem.h"
#include "sched/wait.h"
#include "sched/worker.h"

/* So many fibers that have nothing to run keep their stacks; the others are bare.  Their records are not
 * freed, as a thief may be about to ask one. */
#define WARM_FIBERS_MAX 64

/* Do what was left, unless more of the same kind comes. */
static void do_rest(fi_fiber *f, void (*kind)(fi_runnable *, fi_fiber *))
{
    if (f->rest && !(f->work && f->work->run == kind))
        f->rest(f);
}

static void end_extras(fi_fiber *f)
{
    if (f->locals)
        fi_locals_end(f->locals);
    f->locals = NULL;
    if (f->end_handle)
        f->end_handle(f);
    f->end_handle = NULL;
}

/* Most work ends without having parked, and its worker has more that never ran: that needs no other fiber. */
static void fiber_main(void *arg)
{
    fi_fiber *f = arg;

    for (;;) {
        void (*kind)(fi_runnable *, fi_fiber *) = f->work->run;
        f->mark.name = f->worker->runtime->settings.name;
        kind(f->work, f);
        if (f->end_handle || f->locals)
            end_extras(f);
        f->work = fi_find_piece(f->worker);
        do_rest(f, kind);
        if (f->work)
            fi_ctx_load_modes(&f->worker->runtime->modes);
        else
            fi_ctx_switch(&f->ctx, &f->worker->seat->home);
    }
}

static void remember(fi_runtime *rt, fi_fiber *f)
{
    fi_lock_lock(&rt->fibers_lock);
    f->next_made = rt->fibers;
    rt->fibers = f;
    fi_lock_unlock(&rt->fibers_lock);
}

/* pool: NULL, or one of another size. */
static int give_stack(fi_worker *w, fi_fiber *f, fi_stack_pool *pool)
{
    int e = pool ? fi_stack_pool_get(pool, &f->stack, 1) : fi_stack_get(&w->stacks, &f->stack);

    if (e < 0)
        return e;
    f->pool = pool;
    f->mark = (fi_stack_mark){
        .low = f->stack->low,
        .size = f->stack->size,
        .guard_size = (pool ? pool : &w->runtime->stack_pool)->guard_size,
        .name = w->runtime->settings.name,
    };
    fi_ctx_make(&f->ctx, f->stack->low, f->stack->size, fiber_main, f);
    return 0;
}

static void take_stack(fi_worker *w, fi_fiber *f)
{
    fi_ctx_fini(&f->ctx);
    if (f->pool)
        fi_stack_pool_put(f->pool, f->stack);
    else
        fi_stack_put(&w->stacks, f->stack, f->mark.name);
    f->stack = NULL;
}

static fi_fiber *make(fi_worker *w, fi_stack_pool *pool)
{
    fi_fiber *f = FI_NEW(fi_fiber);

    if (!f)
        return NULL;
    if (give_stack(w, f, pool) < 0) {
        FI_DELETE(fi_fiber, f);
        return NULL;
    }
    remember(w->runtime, f);
    fi_count(&w->counters.fibers_made);
    return f;
}

static fi_fiber *from_list(fi_fiber **list)
{
    fi_fiber *f = *list;

    if (f)
        *list = f->next_idle;
    return f;
}

static void to_list(fi_fiber **list, fi_fiber *f)
{
    f->next_idle = *list;
    *list = f;
}

/* Bare fibers are shared: else who makes them and who ends them would never meet, and there would be more and
 * more of them. */
static fi_fiber *take_bare(fi_runtime *rt)
{
    fi_fiber *f;

    fi_lock_lock(&rt->fibers_lock);
    f = from_list(&rt->bare_fibers);
    fi_lock_unlock(&rt->fibers_lock);
    return f;
}

static void put_bare(fi_runtime *rt, fi_fiber *f)
{
    fi_lock_lock(&rt->fibers_lock);
    to_list(&rt->bare_fibers, f);
    fi_lock_unlock(&rt->fibers_lock);
}

static fi_fiber *reuse_bare(fi_worker *w, fi_stack_pool *pool)
{
    fi_fiber *f = take_bare(w->runtime);

    if (f && give_stack(w, f, pool) < 0) {
        put_bare(w->runtime, f);
        return NULL;
    }
    return f;
}

static fi_fiber *reuse(fi_worker *w)
{
    fi_fiber *f = from_list(&w->warm_fibers);

    if (!f)
        return reuse_bare(w, NULL);
    w->warm_fibers_n--;
    return f;
}

static fi_fiber *reused_or_made(fi_worker *w, fi_fiber *f, fi_stack_pool *pool)
{
    if (f)
        fi_count(&w->counters.fibers_reused);
    else
        f = make(w, pool);
    if (f) {
        w->fibers_busy++;
        fi_store_relaxed(&f->busy, 1u);
    }
    return f;
}

fi_fiber *fi_fiber_get(fi_worker *w)
{
    return reused_or_made(w, reuse(w), NULL);
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
    if (p->stack_size == 0 && fi_stack_pool_init(p, &(fi_stack_config){.stack_size = size}) < 0)
        p = NULL;
    fi_lock_unlock(&rt->fibers_lock);
    return p;
}

fi_fiber *fi_fiber_get_sized(fi_worker *w, size_t stack_size)
{
    fi_stack_pool *pool = pool_of_size(w->runtime, stack_size);

    return pool ? reused_or_made(w, reuse_bare(w, pool), pool) : NULL;
}

static void free_tasks(fi_fiber *f)
{
    if (f->tasks)
        f->tasks_free(f->tasks);
    f->tasks = NULL;
}

static void make_bare(fi_worker *w, fi_fiber *f)
{
    take_stack(w, f);
    free_tasks(f);
    put_bare(w->runtime, f);
}

void fi_fiber_put(fi_worker *w, fi_fiber *f)
{
    w->fibers_busy--;
    fi_store_relaxed(&f->busy, 0u);
    if (w->warm_fibers_n == WARM_FIBERS_MAX || f->pool) {
        make_bare(w, f);
        return;
    }
    w->warm_fibers_n++;
    to_list(&w->warm_fibers, f);
}

void fi_fiber_cool(fi_worker *w)
{
    fi_fiber *f;

    while ((f = from_list(&w->warm_fibers)) != NULL)
        make_bare(w, f);
    w->warm_fibers_n = 0;
}

void fi_fiber_flush(fi_fiber *f)
{
    fi_count_many(&f->worker->counters.spawned, f->fork.spawned);
    f->fork.spawned = 0;
}

void fi_fiber_each(fi_runtime *rt, bool (*visit)(fi_fiber *f, void *ctx), void *ctx)
{
    fi_lock_lock(&rt->fibers_lock);
    for (fi_fiber *f = rt->fibers; f && visit(f, ctx); f = f->next_made) {
    }
    fi_lock_unlock(&rt->fibers_lock);
}

void fi_fiber_free_all(fi_fiber *made)
{
    while (made) {
        fi_fiber *f = made;
        made = f->next_made;
        free_tasks(f);
        FI_DELETE(fi_fiber, f);
    }
}
