/* Start and stop of the runtime, fork() and process exit.
 *
 * One lock guards start and stop.  Each filch_start takes a hold of the runtime, and filch_stop
 * releases one.  The last release stops it.  A runtime that starts by itself has one hold from the
 * beginning, so the start and the stop of a library do not stop it.  Threads that are inside a call
 * are counted by a rundown, `users`.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* cpu_set_t, pthread_attr_setaffinity_np */
#endif
#include "sched/runtime.h"

#include "base/affinity.h"
#include "base/at_fork.h"
#include "base/clock.h"
#include "base/exit_guard.h"
#include "base/fatal.h"
#include "base/futex.h"
#include "base/mem.h"
#include "base/message.h"
#include "base/rundown.h"
#include "base/sized.h"
#include "base/stay_loaded.h"
#include "sched/hooks.h"
#include "sched/span.h"
#include "sched/watchdog.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define SOON_NS              10000000 /* in which idle workers fall asleep */
#define CHECKS_WHILE_RUNNING 5   /* checks while a worker runs a fiber, which may be about to end */
#define CHECKS_MAX           500 /* checks while workers wait for a CPU */
#define START_RETRY_NS       INT64_C(1000000000) /* after a failed start by itself */

static fi_lock start_lock;        /* guards the next variables */
static fi_runtime *running;       /* NULL: none */
static uint64_t holds;            /* of `running`; 0 while it is being stopped */
static uint64_t started;          /* number of runtimes started so far */
static unsigned startable;        /* workers for which the last failed start had threads */
static int64_t retry_ns;          /* no start by itself before this time */
static bool has_reported;         /* that the runtime cannot start by itself */
static fi_runtime *fork_leftover; /* left by fork(): kept reachable, as they are never freed */
static FI_ATOMIC(uint32_t) is_stopping;      /* 1: a stop is in progress; new users wait for it */
static FI_ATOMIC(int) start_error = -EAGAIN; /* of the last start by itself that failed */
static fi_rundown users = {
    FI_RUNDOWN_CLOSED}; /* open while a runtime runs and no stop is in progress */

bool fi_runtime_has_objects;

static unsigned greatest_common_divisor(unsigned a, unsigned b)
{
    return b == 0 ? a : greatest_common_divisor(b, a % b);
}

static int find_strides(fi_runtime *rt)
{
    unsigned n = rt->n_workers;

    rt->strides = FI_NEW_ARRAY(unsigned, n);
    if (!rt->strides)
        return -ENOMEM;
    for (unsigned i = 1; i <= n; i++)
        if (greatest_common_divisor(i, n) == 1)
            rt->strides[rt->n_strides++] = i;
    return 0;
}

static void pin_thread(pthread_attr_t *attr, const fi_cpu_set *cpus, unsigned worker)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET((unsigned)cpus->ids[worker % cpus->n], &set);
    pthread_attr_setaffinity_np(attr, sizeof set, &set);
}

static void join_workers(fi_runtime *rt, unsigned n)
{
    fi_store_relaxed(&rt->stopping, 1);
    fi_idle_wake_all(&rt->idle);
    for (unsigned i = 0; i < n; i++)
        pthread_join(rt->workers[i].thread, NULL);
}

/* If the system refuses to pin the thread, the worker runs unpinned. */
static int create_thread(fi_worker *w, const pthread_attr_t *attr, bool pinned)
{
    int e = pthread_create(&w->thread, attr, fi_worker_main, w), unpinned;

    if (e == 0 || !pinned)
        return e;
    unpinned = pthread_create(&w->thread, NULL, fi_worker_main, w);
    if (unpinned == 0 && w->index == 0)
        fi_message(FILCH_LEVEL_WARNING,
                   "affinity=cpu: cannot pin threads (%s); the workers run unpinned", strerror(e));
    return unpinned;
}

/* Start all threads, or none.  cpus: the CPUs to pin them to; NULL: not pinned. */
static int start_threads(fi_runtime *rt, pthread_attr_t *attr, const fi_cpu_set *cpus)
{
    for (unsigned i = 0; i < rt->n_workers; i++) {
        fi_worker *w = &rt->workers[i];
        int e;
        if (cpus)
            pin_thread(attr, cpus, i);
        e = create_thread(w, attr, cpus != NULL);
        if (e != 0) {
            join_workers(rt, i);
            startable = i;
            return -e;
        }
    }
    return 0;
}

/* A filter may refuse to report the CPUs of this process.  Then the workers cannot be pinned. */
static int start_pinned(fi_runtime *rt, pthread_attr_t *attr)
{
    fi_cpu_set cpus;
    int e = fi_cpu_set_read(fi_affinity_get_process, &cpus);

    if (e == -ENOMEM)
        return e;
    if (e < 0) {
        fi_message(FILCH_LEVEL_WARNING,
                   "affinity=cpu: cannot read the CPUs of this process (%s); the workers run "
                   "unpinned",
                   strerror(-e));
        return start_threads(rt, attr, NULL);
    }
    e = start_threads(rt, attr, &cpus);
    fi_cpu_set_fini(&cpus);
    return e;
}

static int start_workers(fi_runtime *rt)
{
    pthread_attr_t attr;
    int e;

    pthread_attr_init(&attr);
    e = rt->settings.affinity ? start_pinned(rt, &attr) : start_threads(rt, &attr, NULL);
    pthread_attr_destroy(&attr);
    return e;
}

static void free_workers(fi_runtime *rt)
{
    for (unsigned i = 0; i < rt->n_workers; i++)
        fi_worker_fini(&rt->workers[i]);
    FI_DELETE_ARRAY(fi_worker, rt->workers, rt->n_workers);
    if (rt->strides)
        FI_DELETE_ARRAY(unsigned, rt->strides, rt->n_workers);
}

static int make_workers(fi_runtime *rt)
{
    rt->workers = FI_NEW_ARRAY(fi_worker, rt->n_workers);
    if (!rt->workers)
        return -ENOMEM;
    for (unsigned i = 0; i < rt->n_workers; i++) {
        int e = fi_worker_init(&rt->workers[i], rt, i);
        if (e < 0)
            return e;
    }
    for (unsigned i = 0; i < rt->n_workers; i++)
        fi_idle_init_asleep(&rt->idle, &rt->workers[i].sleeper);
    return find_strides(rt);
}

/* Map at least one stack, so that a fiber that waits for memory can get the stack of another one.
 * This comes after the threads, whose stacks cannot be smaller. */
static int reserve_stacks(fi_runtime *rt)
{
    int e = fi_stack_pool_reserve(&rt->stack_pool);

    if (e < 0) {
        join_workers(rt, rt->n_workers);
        startable = rt->n_workers / 2; /* their threads leave memory */
    }
    return e;
}

static int start_with_overflow_handler(fi_runtime *rt)
{
    int e = fi_overflow_handler_install();

    if (e < 0)
        return e;
    e = start_workers(rt);
    if (e == 0)
        e = reserve_stacks(rt);
    if (e < 0)
        fi_overflow_handler_remove();
    return e;
}

static int start_with_hooks(fi_runtime *rt)
{
    int e = make_workers(rt);

    if (e == 0)
        e = fi_runtime_hooks.observe_begin(rt);
    if (e < 0)
        return e;
    rt->publish_mode = fi_span_is_on()      ? FI_PUBLISH_SPAN
                       : rt->settings.eager ? FI_PUBLISH_EAGER
                                            : FI_PUBLISH_LAZY;
    e = start_with_overflow_handler(rt);
    if (e < 0)
        fi_runtime_hooks.observe_end(rt, false);
    return e;
}

static int make_runtime(const fi_settings *settings, fi_runtime **out)
{
    fi_runtime *rt = FI_NEW(fi_runtime);
    int e;

    if (!rt)
        return -ENOMEM;
    rt->settings = *settings;
    rt->number = ++started;
    rt->n_workers = settings->workers;
    fi_ctx_fpenv_get(&rt->fpenv);
    fi_idle_init(&rt->idle);
    fi_atomic_init(&rt->coarse_now_ns, fi_clock_now());
    fi_records_init(rt);
    e = fi_fiber_pool_init(&rt->stack_pool, settings->stack_size);
    if (e == 0) {
        e = start_with_hooks(rt);
        if (e < 0) {
            if (rt->workers)
                free_workers(rt);
            fi_stack_pool_fini(&rt->stack_pool);
        }
    }
    if (e < 0) {
        FI_DELETE(fi_runtime, rt);
        return e;
    }
    *out = rt;
    fi_watchdog_init(rt);
    return 0;
}

static void free_runtime(fi_runtime *rt)
{
    fi_poller *poller = fi_poller_get(rt);

    fi_watchdog_fini(rt);
    join_workers(rt, rt->n_workers);
    if (poller)
        poller->free(poller);
    fi_runtime_hooks.observe_end(rt, true);
    fi_records_fini(rt);
    free_workers(rt);
    fi_overflow_handler_remove();
    fi_stack_pool_fini(&rt->stack_pool);
    for (int i = 0; i < FI_STACK_SIZES; i++)
        if (rt->sized_pools[i].stack_size)
            fi_stack_pool_fini(&rt->sized_pools[i]);
    FI_DELETE(fi_runtime, rt);
    fi_runtime_has_objects = false;
}

/* fork(): no start or stop runs meanwhile.  In the child there are no workers.  Their memory stays
 * allocated, because they may have been in the middle of any operation.  A new runtime can be
 * started beside the old one.  Locks of the old one may be held, and are not reached any more
 * (docs/fork.md). */
static void abandon_in_child(fi_runtime *rt)
{
    rt->in_fork_child = true;
    rt->publish_mode = FI_PUBLISH_NEVER;
    for (unsigned i = 0; i < rt->n_workers; i++)
        rt->workers[i].hook_mask = 0; /* the observers are in the parent */
    rt->external_events = NULL;
    fi_store_relaxed(&rt->watchdog.started, 0); /* so that a waiting thread checks it */
    fi_idle_init(&rt->idle);
    rt->fork_leftover = fork_leftover;
    fork_leftover = rt;
}

static void after_fork_in_child(void)
{
    if (running)
        abandon_in_child(running);
    running = NULL;
    holds = 0;
    fi_store_relaxed(&users.word, FI_RUNDOWN_CLOSED);
    fi_store_relaxed(&is_stopping, 0);
    fi_fence_setup();
    fi_worker_detach();
}

__attribute__((constructor)) static void register_at_fork(void)
{
    fi_at_fork(FI_FORK_RUNTIME, &start_lock, after_fork_in_child);
}

/* If the system has fewer threads than wanted, start fewer workers. */
static int make_largest_runtime(fi_settings *settings)
{
    unsigned wanted = settings->workers;
    int error = 0, e;

    for (;;) {
        startable = 0;
        e = make_runtime(settings, &running);
        if (e == 0 || startable == 0)
            break;
        error = e;
        settings->workers = startable;
    }
    if (e == 0 && error < 0)
        fi_message(FILCH_LEVEL_WARNING,
                   "workers: only %u of %u could be started (%s); raise the limit of threads "
                   "(ulimit -u) or of memory (ulimit -v)",
                   settings->workers, wanted, strerror(-error));
    return e;
}

/* [start_lock held] */
static int start_runtime(const filch_config *config)
{
    fi_settings settings;
    int e = fi_config_resolve(config, &settings);

    fi_exit_guard_init();
    if (e == 0)
        e = make_largest_runtime(&settings);
    if (e < 0)
        return e;
    has_reported = false;
    fi_runtime_has_objects = true;
    holds = 1;
    fi_rundown_open(&users);
    return 0;
}

/* Take the lock while no stop is in progress.  Otherwise a steady stream of new users could keep a
 * stop from ever finding the runtime unused. */
static void lock_unless_stopping(void)
{
    fi_lock_lock(&start_lock);
    while (fi_load_relaxed(&is_stopping)) {
        fi_lock_unlock(&start_lock);
        fi_futex_wait(&is_stopping, 1, FI_FUTEX_FOREVER);
        fi_lock_lock(&start_lock);
    }
}

/* [start_lock held] */
static int hold_running(void)
{
    holds++;
    return 1;
}

/* A fiber cannot wait for a stop, which waits for the fiber.  Its runtime may also be that of the
 * parent of a fork. */
static int start_in_fiber(fi_runtime *rt)
{
    int e = -EDEADLK;

    fi_lock_lock(&start_lock);
    if (running == rt && holds > 0)
        e = hold_running();
    fi_lock_unlock(&start_lock);
    return e;
}

int filch_start_(const filch_config *given, size_t size)
{
    fi_worker *w = fi_worker_self();
    filch_config config;
    int e = fi_sized_read("filch_start", &config, sizeof config, given, size);

    if (e < 0)
        return e;
    if (w)
        return start_in_fiber(w->runtime);
    fi_stay_loaded();
    lock_unless_stopping();
    e = running ? hold_running() : start_runtime(&config);
    fi_lock_unlock(&start_lock);
    return e;
}

/* [start_lock held] A wrong environment stays wrong, so its messages are not repeated. */
static void note_failed_start(int e)
{
    fi_store_relaxed(&start_error, e);
    retry_ns = e == -EINVAL ? INT64_MAX : fi_clock_now() + START_RETRY_NS;
    if (!has_reported)
        fi_message(FILCH_LEVEL_ERROR,
                   "cannot start the runtime (%s); tasks, loops and groups run on the calling "
                   "thread, other calls fail",
                   strerror(-e));
    has_reported = true;
}

/* [start_lock held] */
static void start_by_itself(void)
{
    int e;

    if (fi_clock_now() < retry_ns)
        return;
    e = start_runtime(NULL);
    if (e < 0)
        note_failed_start(e);
}

/* `users` is open while the lock is held and a runtime runs. */
static fi_runtime *enter_or_start(void)
{
    fi_runtime *rt;

    fi_stay_loaded();
    lock_unless_stopping();
    if (!running)
        start_by_itself();
    rt = running;
    if (rt)
        fi_rundown_enter_unchecked(&users);
    fi_lock_unlock(&start_lock);
    return rt;
}

int fi_runtime_start_error(void)
{
    return fi_load_relaxed(&start_error);
}

fi_runtime *fi_runtime_enter(void)
{
    return fi_rundown_try_enter(&users) ? running : enter_or_start();
}

fi_runtime *fi_runtime_enter_unchecked(void)
{
    fi_rundown_enter_unchecked(&users);
    return running;
}

void fi_runtime_leave(fi_runtime *rt)
{
    (void)rt;
    fi_rundown_leave(&users);
}

/* Ended work is summed first.  If the sums are equal, there was a moment in between without
 * detached work. */
static bool has_detached_work(fi_runtime *rt)
{
    uint64_t ended = 0, given = 0;

    for (unsigned i = 0; i < rt->n_workers; i++)
        ended += fi_load_relaxed(&rt->workers[i].counters.jobs_ended) +
                 fi_load_relaxed(&rt->workers[i].counters.starts_ended);
    for (unsigned i = 0; i < rt->n_workers; i++)
        given += fi_load_relaxed(&rt->workers[i].counters.jobs_given) +
                 fi_load_relaxed(&rt->workers[i].counters.starts_given);
    return given + fi_load_relaxed(&rt->n_external_submits) != ended;
}

bool fi_runtime_is_only_user(fi_runtime *rt)
{
    return fi_rundown_count(&users) == 1 && !has_detached_work(rt);
}

fi_runtime *fi_runtime_lock_running(void)
{
    fi_lock_lock(&start_lock);
    return running;
}

void fi_runtime_unlock_running(void)
{
    fi_lock_unlock(&start_lock);
}

/* [called while all workers sleep] Has all work ended?  A thread that made the last fiber ready
 * from outside may still be in the runtime, but no other. */
static bool is_quiescent(void *runtime)
{
    fi_runtime *rt = runtime;
    long busy = 0;

    for (unsigned i = 0; i < rt->n_workers; i++)
        busy += rt->workers[i].n_busy;
    return busy == 0 && !fi_runtime_has_work(rt);
}

/* [the same] If so, no timer fires from now on.  A worker that wakes takes the lock that is held
 * here, and so sees it. */
static bool stop_timers_if_quiescent(void *runtime)
{
    fi_runtime *rt = runtime;
    bool is_over = is_quiescent(rt);

    fi_store_relaxed(&rt->timers_stopped, (uint32_t)is_over);
    return is_over;
}

static bool wait_quiescent(fi_runtime *rt, int64_t deadline_ns)
{
    return fi_idle_wait_all_asleep(&rt->idle, rt->n_workers, is_quiescent, rt, deadline_ns);
}

/* [start_lock held, is_stopping set] Wait, without the lock, for the users of the runtime and for
 * all work that they have started.  Threads that hold a parked fiber or a job may enter again
 * meanwhile, so this is repeated until no user has come and no work was submitted.  A worker whose
 * next timer is due wakes again and again, so it notices when timers fire again. */
static void wait_until_unused(fi_runtime *rt)
{
    uint64_t given;

    fi_rundown_close(&users);
    fi_lock_unlock(&start_lock);
    fi_watchdog_thread_blocks();
    do {
        given = fi_load_relaxed(&rt->n_external_submits);
        fi_store_relaxed(&rt->timers_stopped, 0u);
        fi_rundown_wait_empty(&users);
        fi_idle_wait_all_asleep(&rt->idle, rt->n_workers, stop_timers_if_quiescent, rt,
                                FI_FUTEX_FOREVER);
    } while (fi_rundown_remaining(&users) > 0 || fi_load_relaxed(&rt->n_external_submits) != given);
    fi_watchdog_thread_unblocks();
    fi_lock_lock(&start_lock);
}

/* [start_lock held, released meanwhile] */
static void stop_running(void)
{
    fi_store_relaxed(&is_stopping, 1);
    wait_until_unused(running);
    free_runtime(running);
    running = NULL;
    fi_store_relaxed(&is_stopping, 0);
    fi_futex_wake(&is_stopping, INT_MAX);
}

/* The last hold cannot be released, because the stop would wait for the fiber. */
static int stop_in_fiber(fi_runtime *rt)
{
    int e = -EDEADLK;

    fi_lock_lock(&start_lock);
    if (running == rt && holds > 1) {
        holds--;
        e = 1;
    }
    fi_lock_unlock(&start_lock);
    return e;
}

int filch_stop(void)
{
    fi_worker *w = fi_worker_self();
    int remaining;

    if (w)
        return stop_in_fiber(w->runtime);
    lock_unless_stopping();
    if (running && --holds == 0)
        stop_running();
    remaining = running != NULL;
    fi_lock_unlock(&start_lock);
    return remaining;
}

unsigned filch_worker_count(void)
{
    fi_runtime *rt = fi_runtime_lock_running();
    unsigned n = rt ? rt->n_workers : 0;

    fi_runtime_unlock_running();
    return n;
}

static bool any_worker_runs(fi_runtime *rt)
{
    for (unsigned i = 0; i < rt->n_workers; i++)
        if (fi_load_relaxed(&rt->workers[i].current))
            return true;
    return false;
}

/* Idle workers fall asleep soon, but on a busy machine they may first have to wait for a CPU.  Give
 * up at once if all workers sleep while a fiber is parked, and soon if a worker runs a fiber. */
static bool quiesce(fi_runtime *rt)
{
    for (int checks = 0; checks < CHECKS_MAX; checks++) {
        if (wait_quiescent(rt, fi_clock_now() + SOON_NS))
            return true;
        if (fi_load_relaxed(&rt->idle.state) == rt->n_workers)
            return false;
        if (checks >= CHECKS_WHILE_RUNNING && any_worker_runs(rt))
            return false;
    }
    return false;
}

/* At the end of the process.  Work that still runs at an exit() is left alone.  An exit() from a
 * fiber does not stop the runtime.  A library that contains Filch is not unloaded once a runtime
 * was started (base/stay_loaded.h). */
static void stop_at_exit(void)
{
    fi_rundown_close(&users);
    if (fi_rundown_remaining(&users) == 0 && quiesce(running) && fi_rundown_remaining(&users) == 0)
        free_runtime(running), running = NULL;
    else
        fi_runtime_hooks.incident(running, FI_INCIDENT_EXIT);
}

__attribute__((destructor)) static void runtime_at_exit(void)
{
    fi_worker *w = fi_worker_self();

    if (w) {
        fi_runtime_hooks.incident(w->runtime, FI_INCIDENT_EXIT);
        return;
    }
    fi_lock_lock(&start_lock);
    if (running && !fi_load_relaxed(&is_stopping))
        stop_at_exit();
    fi_lock_unlock(&start_lock);
}
