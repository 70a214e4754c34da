/* Spawn, sync and run, where they are more than a few instructions: what the compiled code of
 * <filch/task.h> calls when the words of its fiber tell it to. */
#include "base/clock.h"
#include "base/fatal.h"
#include "base/oneshot.h"
#include "sched/caller_runs.h"
#include "sched/runtime.h"
#include "sched/span.h"
#include "sched/switch.h"
#include "sched/watchdog.h"
#include "task/stack.h"
#include "task/ticket.h"

#include <stdio.h>
#include <stdlib.h>

#define PUBLISH_MOST   32                /* tickets in one go */
#define TASKS_ON_STACK ((size_t)1 << 16) /* bytes, where there is no memory for a task stack */
#define REPORT_NS      200000000         /* until a task that waits for memory is reported */
#define SPINS          100 /* looks at a running task before its fiber parks: it may be done soon */

_Static_assert(offsetof(fi_fiber, bounds) == 0, "compiled code holds the address of both");
_Static_assert(offsetof(fi_task_bounds, limit) == offsetof(filch_task_bounds_, limit),
               "one layout");
_Static_assert(offsetof(fi_task_bounds, floor) == offsetof(filch_task_bounds_, floor),
               "one layout");
_Static_assert(offsetof(fi_task_bounds, spawned) == offsetof(filch_task_bounds_, spawned),
               "one layout");
_Static_assert(offsetof(fi_task_bounds, open) == offsetof(filch_task_bounds_, open), "one layout");
_Static_assert(sizeof(fi_ticket) <= sizeof(fi_record), "a ticket is a record");

static void run_ticket(fi_runnable *r, fi_fiber *f);

/* ---- publish ---- */

/* False: no memory or no room, and the slot stays private. */
static bool publish_one(fi_worker *w, filch_slot_ *slot, fi_fiber *root)
{
    fi_ticket *t = fi_record_alloc(&w->records);

    if (!t)
        return false;
    t->runnable.run = run_ticket;
    t->runnable.of = NULL;
    fi_ticket_init(t, slot);
    t->root = root;
    slot->ticket = t;
    if (fi_worker_push_unstarted(w, t) == 0)
        return true;
    fi_record_free(&w->records, t);
    return false;
}

/* Up to n of the oldest private tasks; how many. */
static size_t publish(fi_worker *w, fi_task_stack *s, const char *top, size_t n)
{
    fi_fiber *root = fi_cancel_root(fi_fiber_of_bounds(fi_load_relaxed(&w->current)));
    size_t done = 0;
    filch_slot_ *slot;

    while (done < n && (slot = fi_task_stack_oldest(s, top)) != NULL &&
           publish_one(w, slot, root)) {
        fi_task_stack_skip(s, slot);
        done++;
    }
    if (done > 0) {
        fi_trace_publish(w, done);
        fi_count_add(&w->counters.published, done);
        fi_notify(w);
    }
    return done;
}

/* Half of what there is, as the older half is the larger part of the work; but not more than a few
 * visits take away, as what nobody takes must be claimed back one by one. */
static size_t share(const fi_task_stack *s, const char *top, size_t size)
{
    size_t half = s->split < top ? ((size_t)(top - s->split) / size + 1) / 2 : 0;

    return half == 0 ? 1 : half < PUBLISH_MOST ? half : PUBLISH_MOST;
}

/* Somebody may be hungry.  Set the words of the fiber back, and give if there is something to give and
 * nothing to take; ask ourselves again when there is nothing to give. */
static void answer(fi_fiber *f, fi_task_stack *s, const char *top, size_t size)
{
    fi_worker *w = f->worker;
    bool eager = w->runtime->settings.eager;
    char *floor = s->split;

    fi_task_bounds_reset(&f->bounds, s->limit, floor);
    if (w->runtime->in_fork_child)
        return;
    if (fi_span_is_on()) { /* which looks at every spawn and sync, and there is nobody to publish for */
        fi_task_bounds_request(&f->bounds);
        return;
    }
    if (!eager && (!fi_idle_hungry(&w->runtime->idle) || fi_deque_size(w->deque) > 0))
        return;
    if (publish(w, s, top, eager ? SIZE_MAX : share(s, top, size)) == 0 || eager)
        fi_task_bounds_request(&f->bounds);
    else
        fi_task_bounds_raise_floor(&f->bounds, floor, s->split);
}

/* ---- spawn ---- */

void filch_slow_spawn_(filch_task_bounds_ *bounds, char *top, size_t size)
{
    fi_fiber *f = fi_fiber_of_bounds(bounds);
    fi_task_stack *s = f->tasks;

    fi_task_stack_grow(s, top + size);
    FI_SPAN(spawned(top));
    answer(f, s, top + size, size);
}

/* ---- sync ---- */

static _Noreturn void wrong_sync(const filch_task_type_ *wanted, const filch_task_type_ *found)
{
    fi_fatal("FILCH_SYNC(%s), but the newest spawn is %s", wanted->name, found->name);
}

static _Noreturn void no_spawn(const filch_task_type_ *type)
{
    fi_fatal("FILCH_SYNC(%s) without a FILCH_SPAWN", type->name);
}

void filch_check_sync_(const filch_task_type_ *type, const filch_slot_ *slot, const void *frame)
{
    if (slot->ticket != frame)
        no_spawn(type);
    if (slot->type != type)
        wrong_sync(type, slot->type);
}

void filch_check_open_(const filch_task_type_ *type, const filch_task_bounds_ *fork, long before)
{
    if (fork->open > before)
        fi_fatal("task %s returned with %ld FILCH_SPAWN not synced", type->name,
                 fork->open - before);
    if (fork->open < before)
        fi_fatal("task %s made a FILCH_SYNC without a FILCH_SPAWN of its own", type->name);
}

/* Our newest ticket is most often the newest in our deque as well; taken from there it needs no claim.
 * Something else goes back. */
static bool pop_back(fi_worker *w, fi_ticket *t)
{
    void *item;

    if (w->deque->ops->fifo || w->runtime->in_fork_child)
        return false;
    item = fi_worker_pop_unstarted(w);
    if (item == t)
        return true;
    if (!item)
        return false;
    if (fi_worker_push_unstarted(w, item) < 0)
        fi_shared_queue_push(&w->runtime->global, item);
    fi_notify(w); /* nobody saw it while it was out */
    return false;
}

/* True: the task is ours again.  A ticket that stays in a deque is freed by who takes it out. */
static bool claim_back(fi_worker *w, fi_ticket *t)
{
    if (pop_back(w, t))
        fi_record_free(&w->records, t);
    else if (!fi_ticket_claim_back(t))
        return false;
    fi_count(&w->counters.claimed_back);
    return true;
}

static bool commit_park(fi_fiber *f, void *ticket)
{
    return fi_ticket_park(ticket, f);
}

static void await(fi_fiber *f, fi_ticket *t)
{
    if (f->worker->runtime->in_fork_child)
        fi_fatal("FILCH_SYNC of a task that another thread was running when this process was "
                 "forked");
    for (int i = 0; i < SPINS; i++) {
        if (fi_ticket_is_done(t))
            return;
        fi_pause();
    }
    fi_fiber_park(f, commit_park, t);
}

/* The newest slot is public: so are all older ones.  True: somebody else ran it. */
static bool sync_public(fi_fiber *f, filch_slot_ *slot)
{
    fi_ticket *t = slot->ticket;

    if (claim_back(f->worker, t))
        return false;
    fi_count(&f->worker->counters.taken);
    await(f, t);
    fi_record_free(&f->worker->records, t);
    return true;
}

/* With a stack that begins at base, all of it private.  The first spawn is as if asked. */
static void run_slot(fi_fiber *f, char *base, filch_slot_ *slot)
{
    fi_task_bounds_request(&f->bounds);
    slot->type->run((filch_task_bounds_ *)(void *)&f->bounds, base, slot);
}

/* The result goes into its slot, so what it spawns itself goes behind that. */
static void run_followed(fi_fiber *f, filch_slot_ *slot)
{
    fi_span_begin_task(slot);
    run_slot(f, (char *)slot + slot->type->size, slot);
    FI_SPAN(end_task(slot)); /* in the child of a fork() nobody follows any more */
    fi_task_bounds_request(&f->bounds);
}

int filch_slow_sync_(filch_task_bounds_ *bounds, char *at, const filch_task_type_ *type)
{
    fi_wait_chaos();
    fi_fiber *f = fi_fiber_of_bounds(bounds);
    fi_task_stack *s = f->tasks;
    filch_slot_ *slot = (filch_slot_ *)(void *)at;
    bool done = false;

    if (at < s->first)
        no_spawn(type);
    if (slot->type != type)
        wrong_sync(type, slot->type);
    if (fi_span_is_on()) {
        run_followed(f, slot);
        return true;
    }
    if (at < s->split) {
        done = sync_public(f, slot);
        s->split = at;
    }
    answer(f, s, at, type->size);
    return done;
}

/* ---- run ---- */

/* The task stack of a fiber, from its first task on.  False: no memory. */
static bool has_tasks(fi_fiber *f)
{
    if (!f->tasks) {
        f->tasks = fi_task_stack_new();
        f->tasks_free = fi_task_stack_free;
    }
    return f->tasks != NULL;
}

static fi_task_stack *tasks_of(fi_fiber *f)
{
    if (!has_tasks(f))
        fi_fatal("no memory for a task stack");
    return f->tasks;
}

static void run_first(fi_fiber *f, filch_slot_ *slot)
{
    fi_task_stack *s = tasks_of(f);

    s->first = s->split = s->base;
    fi_trace_begin(f, FI_WORK_TASK, slot->type->name, 0);
    run_slot(f, s->base, slot);
    fi_task_stack_trim(s);
}

static void run_ticket(fi_runnable *r, fi_fiber *f)
{
    fi_ticket *t = (fi_ticket *)(void *)r;
    fi_fiber *waiter;

    if (!has_tasks(f) && fi_ticket_is_open(t)) {
        fi_worker_requeue_no_memory(f->worker, r);
        return;
    }
    if (!fi_ticket_begin(t)) {
        fi_record_free(&f->worker->records, t);
        return;
    }
    fi_cancel_join(f, t->root);
    run_first(f, t->slot);
    fi_cancel_leave(f);
    fi_fiber_flush(f); /* who waits for this may look at the counters next */
    waiter = fi_ticket_done(t);
    if (waiter && !f->worker->runtime->in_fork_child)
        fi_ready(waiter);
}

/* A task that a plain thread waits for, on that thread's stack. */
typedef struct from_outside {
    fi_runnable runnable;
    void *slot;
    FI_ATOMIC(uint32_t) done;
    int64_t no_memory_ns; /* since when there is no memory for it; 0: there is */
} from_outside;

/* Without memory for a task stack the fiber's own stack has to do.  It has room for fewer open
 * spawns. */
static __attribute__((noinline)) void run_on_own_stack(fi_fiber *f, filch_slot_ *slot)
{
    FI_CACHE_ALIGNED char memory[TASKS_ON_STACK];

    f->tasks = fi_task_stack_in(memory, sizeof memory);
    run_first(f, slot);
    f->tasks = NULL;
}

/* Another fiber may free memory, so the task waits.  A message says so. */
static void wait_for_memory(fi_worker *w, from_outside *o)
{
    int64_t now = fi_clock_now();

    if (o->no_memory_ns == 0)
        o->no_memory_ns = now;
    if (now - o->no_memory_ns >= REPORT_NS) {
        fputs("filch: FILCH_RUN: waits for memory for a task stack; free memory or raise the limit "
              "(ulimit -v)\n",
              stderr);
        o->no_memory_ns = INT64_MAX; /* once */
    }
    fi_worker_requeue_no_memory(w, &o->runnable);
}

static void run_from_outside(fi_runnable *r, fi_fiber *f)
{
    from_outside *o = (from_outside *)(void *)r;

    if (has_tasks(f)) {
        run_first(f, o->slot);
    } else if (f->stack_bounds.size >= 3 * TASKS_ON_STACK) {
        run_on_own_stack(f, o->slot);
    } else {
        wait_for_memory(f->worker, o);
        return;
    }
    if (f->locals)
        fi_fiber_end_locals(f); /* before who waits for the task goes on */
    FI_SPAN(join(&o->done));
    fi_fiber_flush(f);
    if (fi_oneshot_set(&o->done))
        fi_watchdog_thread_unblocks();
}

static void run_outside(void *slot)
{
    from_outside o = {.runnable = {.run = run_from_outside}, .slot = slot};
    fi_runtime *rt = fi_runtime_enter();

    FI_SPAN(inherit(&o.runnable)); /* as a guest runs it without ado */
    if (!fi_caller_run(rt, &o.runnable, &o.done))
        fi_submit_external(rt, &o.runnable);
    if (fi_oneshot_announce(&o.done))
        fi_watchdog_thread_blocks();
    fi_oneshot_wait(&o.done);
    FI_SPAN(collect(&o.done));
    fi_runtime_leave(rt);
}

/* On a fiber it is a call.  Only the compiled code of the caller knows the top of its tasks, so they are
 * left alone meanwhile, and others cannot take them. */
static void run_inside(fi_fiber *f, void *slot)
{
    fi_task_stack *s = tasks_of(f);
    fi_task_stack former = *s;
    long open = f->bounds.open;

    f->bounds.open = 0;
    run_slot(f, fi_task_stack_nest(s), slot);
    f->bounds.open = open;
    fi_task_stack_unnest(s, &former);
    fi_task_bounds_request(&f->bounds);
}

void filch_run_slot_(void *slot)
{
    fi_wait_chaos();
    fi_worker *w = fi_worker_self();

    if (w)
        run_inside(fi_fiber_of_bounds(fi_load_relaxed(&w->current)), slot);
    else
        run_outside(slot);
}
