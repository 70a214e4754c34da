/* Making fibers, and going from a worker to a fiber and back. */
#include "sched/fiber.h"

#include "base/mem.h"
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

/* Most work ends without having parked, and its worker has more that never ran: that needs no other fiber. */
static void fiber_main(void *arg)
{
    fi_fiber *f = arg;

    for (;;) {
        void (*kind)(fi_runnable *, fi_fiber *) = f->work->run;
        kind(f->work, f);
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

static int give_stack(fi_worker *w, fi_fiber *f)
{
    int e = fi_stack_get(&w->stacks, &f->stack);

    if (e < 0)
        return e;
    f->mark = (fi_stack_mark){
        .low = f->stack->low,
        .size = f->stack->size,
        .guard_size = w->runtime->stack_pool.guard_size,
        .name = w->runtime->settings.name,
    };
    fi_ctx_make(&f->ctx, f->stack->low, f->stack->size, fiber_main, f);
    return 0;
}

static void take_stack(fi_worker *w, fi_fiber *f)
{
    fi_ctx_fini(&f->ctx);
    fi_stack_put(&w->stacks, f->stack, f->mark.name);
    f->stack = NULL;
}

static fi_fiber *make(fi_worker *w)
{
    fi_fiber *f = FI_NEW(fi_fiber);

    if (!f)
        return NULL;
    if (give_stack(w, f) < 0) {
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

static fi_fiber *reuse(fi_worker *w)
{
    fi_fiber *f = from_list(&w->warm_fibers);

    if (f) {
        w->warm_fibers_n--;
        return f;
    }
    f = take_bare(w->runtime);
    if (f && give_stack(w, f) < 0) {
        put_bare(w->runtime, f);
        return NULL;
    }
    return f;
}

fi_fiber *fi_fiber_get(fi_worker *w)
{
    fi_fiber *f = reuse(w);

    if (f)
        fi_count(&w->counters.fibers_reused);
    else
        f = make(w);
    if (f)
        w->fibers_busy++;
    return f;
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
    if (w->warm_fibers_n == WARM_FIBERS_MAX) {
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

static void arrive(fi_worker *w, fi_fiber *f)
{
    fi_seat *seat = w->seat;

    f->worker = w;
    fi_fork_show(&w->current, &f->fork);
    fi_fork_ask(&f->fork);
    seat->watch->current = &f->mark;
    fi_cxx_swap(seat->cxx, &seat->cxx_home, &f->cxx);
}

static void depart(fi_worker *w, fi_fiber *f)
{
    fi_seat *seat = w->seat;

    fi_cxx_swap(seat->cxx, &f->cxx, &seat->cxx_home);
    seat->watch->current = NULL;
    fi_fork_show(&w->current, NULL);
    fi_fiber_flush(f);
}

void fi_fiber_run(fi_worker *w, fi_fiber *f)
{
    bool (*commit)(fi_fiber *, void *);

    do {
        arrive(w, f);
        fi_ctx_switch(&w->seat->home, &f->ctx);
        depart(w, f);
        commit = w->park_commit;
        w->park_commit = NULL;
        if (!commit) {
            fi_fiber_put(w, f);
            return;
        }
        /* From a commit that holds on, f may already run elsewhere. */
    } while (!commit(f, w->park_arg));
    fi_count(&w->counters.parks);
}

void fi_fiber_park(fi_fiber *f, bool (*commit)(fi_fiber *f, void *arg), void *arg)
{
    fi_worker *w = f->worker;

    w->park_commit = commit;
    w->park_arg = arg;
    fi_ctx_switch(&f->ctx, &w->seat->home);
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
