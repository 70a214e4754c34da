/* The slow paths of spawn, sync and run.  The inline code of <filch/task.h> calls them when the
 * bounds of its fiber (sched/task_bounds.h) say so. */
#include "base/clock.h"
#include "base/fatal.h"
#include "base/message.h"
#include "base/oneshot.h"
#include "sched/caller_runs.h"
#include "sched/runtime.h"
#include "sched/span.h"
#include "sched/switch.h"
#include "sched/watchdog.h"
#include "task/stack.h"
#include "task/ticket.h"
#include "wait/cancel.h"
#include "wait/waitq.h"

#include <filch/time.h>

#include <stdlib.h>

#define PUBLISH_MAX        32                /* tickets published at a time */
#define TASKS_ON_STACK     ((size_t)1 << 16) /* bytes, if there is no memory for a task stack */
#define REPORT_NS          200000000         /* until a task that waits for memory is reported */
#define NO_MEMORY_RETRY_NS 10000000
#define WAIT_SPINS         100 /* checks of a running task before its fiber parks */

_Static_assert(offsetof(fi_fiber, bounds) == 0, "inline code has the address of both");
_Static_assert(offsetof(fi_task_bounds, limit) == offsetof(filch_task_bounds_, limit),
               "same layout");
_Static_assert(offsetof(fi_task_bounds, floor) == offsetof(filch_task_bounds_, floor),
               "same layout");
_Static_assert(offsetof(fi_task_bounds, spawned) == offsetof(filch_task_bounds_, spawned),
               "same layout");
_Static_assert(offsetof(fi_task_bounds, open) == offsetof(filch_task_bounds_, open), "same layout");
_Static_assert(sizeof(fi_ticket) <= FI_RECORD_SIZE(FI_RECORD_SMALL), "a ticket fits into a record");

const char filch_task_abi_1_ = 1;

static void run_ticket(fi_runnable *r, fi_fiber *f);

/* ---- publish ---- */

/* False: no memory, or the deque is full.  The slot stays private. */
static bool publish_one(fi_worker *w, filch_slot_ *slot, fi_fiber *root)
{
    fi_ticket *t = fi_record_pool_alloc(&w->records[FI_RECORD_SMALL]);

    if (!t)
        return false;
    t->runnable.run = run_ticket;
    t->runnable.wait_key = NULL;
    t->runnable.stack = NULL;
    fi_ticket_init(t, slot);
    t->root = root;
    slot->ticket = t;
    if (fi_worker_try_push_unstarted(w, t))
        return true;
    fi_record_pool_free(&w->records[FI_RECORD_SMALL], t);
    return false;
}

/* Publish up to n of the oldest private tasks.  Returns how many. */
static size_t publish(fi_worker *w, fi_task_stack *s, const char *top, size_t n)
{
    fi_fiber *root = fi_cancel_root(fi_worker_fiber(w));
    size_t done = 0;
    filch_slot_ *slot;

    while (done < n && (slot = fi_task_stack_oldest_private(s, top)) != NULL &&
           publish_one(w, slot, root)) {
        fi_task_stack_advance_split(s, slot);
        done++;
    }
    if (done > 0) {
        fi_trace_publish(w, done);
        fi_count_add(&w->counters.published, done);
        fi_worker_offer_unstarted(w);
        fi_notify(w);
    }
    return done;
}

/* Half of the private tasks, because the older half is most of the work.  Not more than a few
 * steals take, because the owner must claim back each remaining ticket. */
static size_t publish_count(const fi_task_stack *s, const char *top, size_t size)
{
    size_t half = s->split < top ? ((size_t)(top - s->split) / size + 1) / 2 : 0;

    return half == 0 ? 1 : half < PUBLISH_MAX ? half : PUBLISH_MAX;
}

/* A worker is hungry, and our deque is not empty.  If no worker was woken for what is there,
 * because this worker would take it, wake one now. */
static void offer_unstarted(fi_worker *w)
{
    if (!fi_worker_takes_unstarted(w))
        return;
    fi_worker_offer_unstarted(w);
    fi_notify(w);
}

/* Publish if a worker is hungry and finds nothing in our deque.  With no private task, ask for the
 * next spawn to come here. */
static void publish_lazily(fi_fiber *f, fi_task_stack *s, const char *top, size_t size)
{
    fi_worker *w = f->worker;
    char *floor = s->split;

    if (!fi_idle_hungry(&w->runtime->idle))
        return;
    if (fi_deque_size(w->deque) > 0) {
        offer_unstarted(w);
        return;
    }
    if (publish(w, s, top, publish_count(s, top, size)) == 0)
        fi_task_bounds_request(&f->bounds);
    else
        fi_task_bounds_raise_floor(&f->bounds, floor, s->split);
}

/* The other modes.  Eager and profiled runs take the slow path of every spawn and sync. */
static __attribute__((noinline)) void publish_by_mode(fi_fiber *f, fi_task_stack *s,
                                                      const char *top)
{
    fi_publish_mode mode = f->worker->runtime->publish_mode;

    if (mode == FI_PUBLISH_EAGER)
        (void)publish(f->worker, s, top, SIZE_MAX);
    if (mode != FI_PUBLISH_NEVER)
        fi_task_bounds_request(&f->bounds);
}

/* A worker may be hungry: reset the bounds and publish as the mode says. */
static void handle_request(fi_fiber *f, fi_task_stack *s, const char *top, size_t size)
{
    fi_task_bounds_reset(&f->bounds, s->limit, s->split);
    if (FI_LIKELY(f->worker->runtime->publish_mode == FI_PUBLISH_LAZY))
        publish_lazily(f, s, top, size);
    else
        publish_by_mode(f, s, top);
}

/* ---- spawn ---- */

void filch_slow_spawn_(filch_task_bounds_ *bounds, char *top, size_t size)
{
    fi_fiber *f = fi_fiber_of_bounds(bounds);
    fi_task_stack *s = f->tasks;

    fi_task_stack_grow(s, top + size);
    FI_SPAN(spawned(top));
    handle_request(f, s, top + size, size);
}

/* ---- sync ---- */

static _Noreturn void wrong_sync(const filch_task_type_ *wanted, const filch_task_type_ *found)
{
    fi_fatal("FILCH_SYNC(%s): the newest FILCH_SPAWN is of %s", wanted->name, found->name);
}

static _Noreturn void no_spawn(const filch_task_type_ *type)
{
    fi_fatal("FILCH_SYNC(%s): there is no open FILCH_SPAWN", type->name);
}

void filch_check_sync_(const filch_task_type_ *type, const filch_slot_ *slot, const void *frame)
{
    if (slot->ticket != frame)
        no_spawn(type);
    if (slot->type != type)
        wrong_sync(type, slot->type);
}

void filch_check_open_(const filch_task_type_ *type, const filch_task_bounds_ *bounds, long before)
{
    if (bounds->open > before)
        fi_fatal("task %s: returned without a FILCH_SYNC for each FILCH_SPAWN (%ld missing)",
                 type->name, bounds->open - before);
    if (bounds->open < before)
        fi_fatal("task %s: returned with more FILCH_SYNC than FILCH_SPAWN (%ld too many)",
                 type->name, before - bounds->open);
}

/* Our newest ticket is mostly the newest item of our deque.  If a pop returns it, it needs no
 * claim. Any other item is pushed again. */
static bool pop_back(fi_worker *w, fi_ticket *t)
{
    void *item;

    if (w->runtime->in_fork_child)
        return false;
    item = fi_worker_pop_unstarted(w);
    if (item == t)
        return true;
    if (!item)
        return false;
    fi_worker_push_unstarted(w, item);
    fi_notify(w); /* a searcher may have missed it */
    return false;
}

/* True: the task is private again.  A ticket that stays in a deque is freed by the worker that
 * takes it out. */
static bool claim_back(fi_worker *w, fi_ticket *t)
{
    if (pop_back(w, t))
        fi_record_pool_free(&w->records[FI_RECORD_SMALL], t);
    else if (!fi_ticket_claim_back(t))
        return false;
    fi_count(&w->counters.claimed_back);
    return true;
}

static bool commit_park(fi_fiber *f, void *ticket)
{
    return fi_ticket_park(ticket, f);
}

static void wait_done(fi_fiber *f, fi_ticket *t)
{
    if (f->worker->runtime->in_fork_child)
        fi_fatal("FILCH_SYNC: another thread was running the task when this process was forked; "
                 "fork outside of tasks");
    for (int i = 0; i < WAIT_SPINS; i++) {
        if (fi_ticket_is_done(t))
            return;
        fi_pause();
    }
    fi_fiber_park(f, commit_park, t);
}

/* The newest slot is public, and so are all older ones.  True: another worker ran the task. */
static bool sync_public(fi_fiber *f, filch_slot_ *slot)
{
    fi_ticket *t = slot->ticket;

    if (claim_back(f->worker, t))
        return false;
    fi_count(&f->worker->counters.taken);
    wait_done(f, t);
    fi_cancel_after_task(f);
    fi_record_pool_free(&f->worker->records[FI_RECORD_SMALL], t);
    return true;
}

/* Run the task on an empty task stack that starts at base.  Its first spawn takes the slow path. */
static void run_slot(fi_fiber *f, char *base, filch_slot_ *slot)
{
    fi_task_bounds_request(&f->bounds);
    slot->type->run((filch_task_bounds_ *)(void *)&f->bounds, base, slot);
}

/* The task writes its result into its slot, so its own spawns start after the slot. */
static void run_profiled(fi_fiber *f, filch_slot_ *slot)
{
    fi_span_begin_task(slot);
    run_slot(f, (char *)slot + slot->type->size, slot);
    FI_SPAN(end_task(slot)); /* off in the child of a fork */
    fi_task_bounds_request(&f->bounds);
}

int filch_slow_sync_(filch_task_bounds_ *bounds, char *at, const filch_task_type_ *type)
{
    fi_wait_chaos();
    fi_fiber *f = fi_fiber_of_bounds(bounds);
    fi_task_stack *s = f->tasks;
    filch_slot_ *slot = (filch_slot_ *)(void *)at;
    bool done = false;

    if (at < s->run_base)
        no_spawn(type);
    if (slot->type != type)
        wrong_sync(type, slot->type);
    if (FI_UNLIKELY(f->worker->runtime->publish_mode == FI_PUBLISH_SPAN)) {
        run_profiled(f, slot);
        return true;
    }
    if (at < s->split) {
        done = sync_public(f, slot);
        s->split = at;
    }
    handle_request(f, s, at, type->size);
    return done;
}

/* ---- run ---- */

/* A fiber gets its task stack with its first task.  False: no memory. */
static bool ensure_task_stack(fi_fiber *f)
{
    if (!f->tasks) {
        f->tasks = fi_task_stack_new();
        f->tasks_free = fi_task_stack_free;
    }
    return f->tasks != NULL;
}

static void run_outermost(fi_fiber *f, filch_slot_ *slot)
{
    fi_task_stack *s = f->tasks;

    s->run_base = s->split = s->base;
    fi_trace_begin(f, FI_WORK_TASK, slot->type->name, 0);
    run_slot(f, s->base, slot);
    fi_task_stack_trim(s);
}

static void run_ticket(fi_runnable *r, fi_fiber *f)
{
    fi_ticket *t = (fi_ticket *)(void *)r;
    fi_fiber *waiter;

    if (!ensure_task_stack(f) && fi_ticket_is_open(t)) {
        fi_worker_requeue_no_memory(f->worker, r);
        return;
    }
    if (!fi_ticket_start(t)) {
        fi_record_pool_free(&f->worker->records[FI_RECORD_SMALL], t);
        return;
    }
    fi_cancel_begin_task(f, t->root);
    run_outermost(f, t->slot);
    fi_cancel_end_task(f);
    fi_fiber_flush(f); /* the waiter may read the counters next */
    waiter = fi_ticket_finish(t);
    if (waiter && !f->worker->runtime->in_fork_child)
        fi_ready(waiter);
}

/* A task of a thread that is not a worker.  It is on the stack of that thread, which waits for it.
 */
typedef struct external_task {
    fi_runnable runnable;
    void *slot;
    FI_ATOMIC(uint32_t) done;
    int64_t no_memory_ns; /* since when there is no memory for a task stack; 0: there is */
} external_task;

/* Without memory for a task stack, use a part of the fiber's stack.  It holds fewer open spawns. */
static __attribute__((noinline)) void run_on_own_stack(fi_fiber *f, filch_slot_ *slot,
                                                       void (*run)(fi_fiber *f, filch_slot_ *slot))
{
    FI_CACHE_ALIGNED char memory[TASKS_ON_STACK];

    f->tasks = fi_task_stack_in(memory, sizeof memory);
    run(f, slot);
    f->tasks = NULL;
}

/* [fiber or external task that waits for memory] Report it once, after a while. */
static void report_no_memory(int64_t *since_ns)
{
    int64_t now = fi_clock_now();

    if (*since_ns == 0)
        *since_ns = now;
    if (now - *since_ns < REPORT_NS)
        return;
    fi_message(FILCH_LEVEL_WARNING, "FILCH_RUN: waits for memory for a task stack; free memory "
                                    "or raise the limit (ulimit -v)");
    *since_ns = INT64_MAX;
}

/* Another fiber may free memory, so the task waits. */
static void wait_for_memory(fi_worker *w, external_task *o)
{
    report_no_memory(&o->no_memory_ns);
    fi_worker_requeue_no_memory(w, &o->runnable);
}

static void run_external_task(fi_runnable *r, fi_fiber *f)
{
    external_task *o = (external_task *)(void *)r;

    if (ensure_task_stack(f)) {
        run_outermost(f, o->slot);
    } else if (f->stack_bounds.size >= 3 * TASKS_ON_STACK) {
        run_on_own_stack(f, o->slot, run_outermost);
    } else {
        wait_for_memory(f->worker, o);
        return;
    }
    if (f->at_end)
        fi_fiber_run_at_end(f); /* before the waiter continues */
    FI_SPAN(join(&o->done));
    fi_fiber_flush(f);
    if (fi_oneshot_set(&o->done))
        fi_watchdog_thread_unblocks();
}

static void run_nested_elsewhere(fi_fiber *f, filch_slot_ *slot);

/* On a fiber FILCH_RUN is a call.  Only the inline code of the caller knows the top of its tasks,
 * so they are not published meanwhile. */
static void run_nested(fi_fiber *f, filch_slot_ *slot)
{
    fi_task_stack *s = f->tasks;
    fi_task_stack former = *s;
    char *base = fi_task_stack_push_nested(s);
    long open = f->bounds.open;

    if (FI_UNLIKELY(!base)) {
        run_nested_elsewhere(f, slot);
        return;
    }
    f->bounds.open = 0;
    run_slot(f, base, slot);
    f->bounds.open = open;
    fi_task_stack_pop_nested(s, &former);
    fi_task_bounds_request(&f->bounds);
}

/* Does the fiber's own stack have space for a task stack, and as much again for the tasks? */
static bool fits_on_own_stack(const fi_fiber *f)
{
    return (size_t)((const char *)__builtin_frame_address(0) - f->stack_bounds.low) >=
           2 * TASKS_ON_STACK;
}

/* A FILCH_RUN on a fiber that has no task stack, while there is no memory for one. */
static __attribute__((noinline)) void run_without_task_stack(fi_fiber *f, filch_slot_ *slot)
{
    int64_t since_ns = 0;

    while (!f->tasks && !fits_on_own_stack(f)) {
        report_no_memory(&since_ns);
        filch_sleep(NO_MEMORY_RETRY_NS);
        ensure_task_stack(f);
    }
    if (f->tasks)
        run_nested(f, slot);
    else
        run_on_own_stack(f, slot, run_nested);
}

/* The task stack has no space for another nested run. */
static __attribute__((noinline)) void run_nested_elsewhere(fi_fiber *f, filch_slot_ *slot)
{
    fi_task_stack *full = f->tasks;

    f->tasks = NULL;
    if (ensure_task_stack(f))
        run_nested(f, slot);
    else
        run_without_task_stack(f, slot);
    if (f->tasks)
        fi_task_stack_free(f->tasks);
    f->tasks = full;
    fi_task_bounds_request(&f->bounds);
}

/* ---- without a runtime ---- */

/* If no runtime can be started, a task and its children run as plain calls on the calling thread.
 * The fiber of the inline task code is then a record without a stack of its own.  Its runtime does
 * not exist, and only says that no task is published. */
static fi_runtime no_runtime = {.publish_mode = FI_PUBLISH_NEVER};
static fi_worker no_worker = {.runtime = &no_runtime};
/* While the thread runs such a task; NULL: it does not.  Initial-exec: the first use does not
 * allocate. */
static _Thread_local fi_fiber *thread_fiber __attribute__((tls_model("initial-exec")));

static void run_on_thread(void *slot)
{
    fi_fiber f = {.worker = &no_worker};

    if (thread_fiber) {
        run_nested(thread_fiber, slot);
        return;
    }
    thread_fiber = &f;
    if (ensure_task_stack(&f)) {
        run_outermost(&f, slot);
        fi_task_stack_free(f.tasks);
    } else {
        run_on_own_stack(&f, slot, run_outermost);
    }
    thread_fiber = NULL;
}

static void run_external(void *slot)
{
    external_task o = {.runnable = {.run = run_external_task}, .slot = slot};
    fi_runtime *rt = fi_runtime_enter();

    if (FI_UNLIKELY(!rt)) {
        run_on_thread(slot);
        return;
    }
    FI_SPAN(inherit(&o.runnable)); /* a caller runs it without a submit */
    if (!fi_caller_run(rt, &o.runnable, &o.done))
        fi_submit_external(rt, &o.runnable);
    if (fi_oneshot_announce(&o.done))
        fi_watchdog_thread_blocks();
    fi_oneshot_wait(&o.done);
    FI_SPAN(collect(&o.done));
    fi_runtime_leave(rt);
}

void filch_run_slot_(void *slot)
{
    fi_wait_chaos();
    fi_fiber *f = fi_fiber_self();

    if (f && FI_UNLIKELY(!ensure_task_stack(f)))
        run_without_task_stack(f, slot);
    else if (f)
        run_nested(f, slot);
    else
        run_external(slot);
}
