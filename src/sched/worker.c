/* The loop of a worker: find work, run it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pthread_setname_np, pthread_setaffinity_np */
#endif
#include "sched/switch.h"

#include "base/clock.h"
#include "base/exit_guard.h"
#include "base/fatal.h"
#include "base/futex.h"
#include "sched/memory_wait.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NAME_SHOWN   64
#define TRY_AGAIN_NS 1000000 /* until the next attempt to allocate a task stack */

void fi_worker_thread_init(fi_worker_thread *s, fi_overflow_handler *overflow,
                           FI_ATOMIC(uint32_t) * stop_flag)
{
    fi_ctx_init_thread(&s->sched_ctx);
    s->cxx = fi_cxx_exceptions_of_thread();
    s->overflow = overflow;
    s->has_overflow_handler = fi_overflow_handler_enter(overflow) == 0;
    s->stop_flag = stop_flag;
    s->is_borrower = false;
    s->direct_switch_max = FI_DIRECT_SWITCH_MAX;
    s->clock = 0;
    s->root_fiber = NULL;
}

void fi_worker_thread_fini(fi_worker_thread *s)
{
    if (s->has_overflow_handler)
        fi_overflow_handler_leave(s->overflow);
    fi_ctx_fini(&s->sched_ctx);
}

/* [thread, at its end] The thread still runs a worker, so pthread_exit was called in a fiber. */
static void thread_ended(void)
{
    const fi_worker *w = fi_worker_self();
    const fi_fiber *f = fi_fiber_self();

    if (!w)
        return;
    fi_fatal("pthread_exit: the thread of worker %u ended in fiber '%.*s'; return from the fiber's "
             "function instead",
             w->index, NAME_SHOWN, f ? f->stack_bounds.name : "none");
}

/* The tick tells the watchdog that the worker runs something else now. */
void fi_worker_attach(fi_worker *w, fi_worker_thread *thread)
{
    uint32_t tick = fi_load_relaxed(&w->tick) + 1u;

    w->attached = thread;
    w->sched_tick_at = tick;
    fi_store_relaxed(&w->tick, tick);
    fi_store_relaxed(&w->thread_clock, thread->clock);
    fi_tls_set(w, w->index + 1);
    fi_exit_guard_set(thread_ended);
}

void fi_worker_detach(void)
{
    fi_tls_set(NULL, FI_LOCK_ID_NONE);
}

int fi_worker_init(fi_worker *w, fi_runtime *rt, unsigned index)
{
    const fi_settings *s = &rt->settings;
    int e;

    w->runtime = rt;
    w->index = index;
    for (int c = 0; c < FI_RECORD_CLASSES; c++)
        fi_record_pool_init(&w->records[c], &rt->record_depots[c]);
    fi_timer_heap_init(&w->timers);
    fi_rng_seed(&w->rng, fi_rng_next(fi_rng_thread()));
    e = fi_deque_new(s->deque,
                     &(fi_deque_config){.batch = s->steal_batch, .no_thieves = rt->n_workers == 1},
                     &w->deque);
    if (e == 0)
        e = fi_stack_cache_init(&w->stacks, &rt->stack_pool, 0);
    return e;
}

void fi_worker_fini(fi_worker *w)
{
    fi_deque_free(w->deque);
    fi_timer_heap_fini(&w->timers);
    fi_overflow_handler_fini(&w->own_overflow);
    fi_overflow_handler_fini(&w->borrower_overflow);
}

void fi_worker_requeue_no_memory(fi_worker *w, fi_runnable *r)
{
    fi_shared_queue_push(&w->runtime->global, r);
    fi_idle_notify(&w->runtime->idle);
    fi_futex_wait(&w->sleeper.asleep, fi_load_relaxed(&w->sleeper.asleep),
                  fi_clock_now() + TRY_AGAIN_NS);
}

fi_fiber *fi_worker_fiber_for(fi_worker *w, fi_runnable *r)
{
    fi_fiber *f = r->stack ? fi_fiber_acquire_sized(w, r->stack) : fi_fiber_acquire(w);

    if (!f) {
        fi_memory_wait_push(w, r);
        return NULL;
    }
    if (!w->attached->root_fiber)
        w->attached->root_fiber = f;
    fi_fiber_assign(f, r, &w->runtime->fpenv);
    return f;
}

bool fi_after_switch_run_slow(fi_worker *w, fi_fiber *left)
{
    bool parked;

    if (w->after_switch.kind == FI_AFTER_RELEASE) {
        fi_fiber_release(w, left);
        return true;
    }
    FI_SET_IN_AFTER_SWITCH(w, true);
    parked = w->after_switch.callback(left, w->after_switch.arg);
    FI_SET_IN_AFTER_SWITCH(w, false);
    if (parked)
        fi_count(&w->counters.parks);
    return parked;
}

/* In the child of a fork() the fiber or blocking call that forked continues, and comes here when
 * its work is done.  Its waiter is in the parent, unless a borrower runs its own task here.
 * Which of the two is the case depends on timing, so the process ends in both. */
void fi_worker_end_fork_child(void)
{
    fflush(NULL);
    _Exit(EXIT_SUCCESS);
}

static void name_thread(const fi_worker *w)
{
    char name[16];

    snprintf(name, sizeof name, "%.10s-%u", w->runtime->settings.name, w->index);
    pthread_setname_np(pthread_self(), name);
}

static void run_worker(fi_worker *w)
{
    fi_worker_thread thread;

    fi_worker_thread_init(&thread, &w->own_overflow, &w->runtime->stopping);
    thread.clock = fi_thread_clock();
    fi_worker_attach(w, &thread);
    for (fi_runnable *r = fi_find_after_wake(w); r; r = fi_find_work(w))
        fi_worker_run(w, r);
    fi_worker_detach();
    fi_worker_thread_fini(&thread);
}

/* [worker thread, detached: a borrower may run the worker meanwhile] */
static void call_worker_hook(const fi_worker *w, void (*hook)(unsigned index, void *ctx))
{
    if (hook)
        hook(w->index, w->runtime->settings.worker_ctx);
}

/* All workers start asleep, so that a caller can borrow a worker whose thread has not started yet.
 * The worker may then never be run by its own thread. */
void *fi_worker_main(void *worker)
{
    fi_worker *w = worker;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL); /* its fibers also run on other threads */
    name_thread(w);
    fi_store_relaxed(&w->tid, (int)syscall(SYS_gettid));
    call_worker_hook(w, w->runtime->settings.on_worker_start);
    fi_idle_wait(&w->sleeper);
    fi_trace_woken(w);
    fi_watchdog_worker_awake(w->runtime);
    if (!fi_load_relaxed(&w->runtime->stopping))
        run_worker(w);
    fi_fiber_cache_drain(w);
    fi_stack_cache_fini(&w->stacks);
    call_worker_hook(w, w->runtime->settings.on_worker_stop);
    return NULL;
}
