/* The watchdog thread: check, then sleep until the next tick or until it is notified. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pthread_setname_np, SIGPWR */
#endif
#include "sched/watchdog.h"

#include "base/at_fork.h"
#include "base/clock.h"
#include "base/eventcount.h"
#include "debug/dump.h"
#include "debug/gdb_layout.h"
#include "sched/hooks.h"
#include "sched/worker.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define TICK_NS     5000000
#define TICK_NS_MIN 500000
#define SIGNAL_NS   50000000
#define TRIM_NS     200000000 /* memory that no fiber used for this long is freed */

fi_watchdog_state fi_watchdog_global_state;

/* There is one runtime at a time.  These outlive it, because a signal may still be pending. */
static fi_eventcount wakeup; /* the watchdog thread waits on it */
static FI_ATOMIC(uint32_t) dump_wanted;
static struct sigaction previous_action; /* of the dump signal */

/* A timer descriptor that wakes the watchdog thread from poll(2); -1: none.  Made once and never
 * closed, because another thread may be about to use it.  A program that closes all descriptors may
 * have another file at this number.  Setting a timer there fails, while a write to an eventfd would
 * change that file. */
static FI_ATOMIC(int) wakeup_fd = -1;

/* Make it due at once, or disarm it. */
static void set_wakeup_fd(bool due)
{
    const struct itimerspec at = {.it_value = {.tv_nsec = due}};
    int fd = fi_load_relaxed(&wakeup_fd);

    if (fd >= 0)
        (void)timerfd_settime(fd, 0, &at, NULL);
}

static void wake_thread(void)
{
    fi_eventcount_notify(&wakeup);
    set_wakeup_fd(true);
}

void fi_watchdog_notify(void)
{
    if (fi_watchdog_state_wake(&fi_watchdog_global_state))
        wake_thread();
}

void fi_watchdog_worker_awake(fi_runtime *rt)
{
    fi_store_relaxed(&rt->coarse_now_ns, fi_clock_now());
    fi_watchdog_notify();
}

/* The runtime whose watchdog thread could not be started; NULL: none.  The lock keeps it valid
 * while it is used. */
static FI_ATOMIC(fi_runtime *) unwatched_runtime;
static fi_lock unwatched_lock;

/* A worker clears check_wanted under the lock before it checks.  So it either sees the change, or
 * check_wanted is set afterwards. */
static void wake_worker(void)
{
    fi_runtime *rt;

    fi_lock_lock(&unwatched_lock);
    rt = fi_load_relaxed(&unwatched_runtime);
    if (rt) {
        fi_store_relaxed(&rt->watchdog.check_wanted, 1u);
        fi_idle_notify(&rt->idle);
    }
    fi_lock_unlock(&unwatched_lock);
}

void fi_watchdog_thread_blocks(void)
{
    if (fi_watchdog_state_change(&fi_watchdog_global_state, FI_WATCHDOG_THREAD))
        wake_thread();
    if (fi_load_relaxed(&unwatched_runtime))
        wake_worker();
}

void fi_watchdog_thread_unblocks(void)
{
    if (fi_watchdog_state_change(&fi_watchdog_global_state, 0 - FI_WATCHDOG_THREAD))
        wake_thread();
}

/* ---- the thread ---- */

/* Two ticks per watchdog_ns, so that a report is late by at most half of it. */
static int64_t tick_length(const fi_runtime *rt)
{
    int64_t tick = rt->settings.watchdog_ns / 2;

    if (tick == 0 || tick > TICK_NS)
        return TICK_NS;
    return tick < TICK_NS_MIN ? TICK_NS_MIN : tick;
}

static void dump_if_wanted(fi_runtime *rt)
{
    if (!fi_load_relaxed(&dump_wanted))
        return;
    fi_store_relaxed(&dump_wanted, 0u);
    fi_dump(rt, STDERR_FILENO);
    fi_observe_hooks.incident(rt, FI_INCIDENT_SIGNAL);
}

static void name_thread(const fi_runtime *rt)
{
    char name[16];

    snprintf(name, sizeof name, "%.9s-watch", rt->settings.name);
    pthread_setname_np(pthread_self(), name);
}

/* Sleep until a notification, an event of the poller, or a late timer. */
static void sleep_while_quiescent(fi_runtime *rt, uint32_t epoch)
{
    fi_poller *p = fi_poller_get(rt);
    int64_t deadline = fi_stall_deadline(rt);
    struct pollfd fds[] = {{.fd = fi_load_relaxed(&wakeup_fd), .events = POLLIN},
                           {.fd = p ? p->fd : -1, .events = POLLIN}};

    if (fds[0].fd < 0 || fds[1].fd < 0 || fi_load_relaxed(&rt->idle.n_interests) == 0) {
        fi_eventcount_wait(&wakeup, epoch, deadline);
        return;
    }
    poll(fds, 2, fi_clock_left_ms(deadline));
    if ((fds[0].revents | fds[1].revents) & POLLNVAL)
        fi_store_relaxed(&wakeup_fd, -1); /* the program closed one: use the futex from now on */
    else
        set_wakeup_fd(false);
}

static void *watchdog_main(void *runtime)
{
    fi_runtime *rt = runtime;
    int64_t tick = tick_length(rt), trim_at = 0;
    fi_quiescence quiescence = {0};
    fi_stall stall = {0};
    size_t n_cached = 0;

    name_thread(rt);
    fi_fiber_cache_enable(rt);
    for (;;) {
        uint32_t epoch = fi_eventcount_prepare(&wakeup);
        int64_t now = fi_clock_now();
        bool quiescent;
        if (fi_load_relaxed(&rt->watchdog.stopping))
            return NULL;
        fi_store_relaxed(&rt->coarse_now_ns, now);
        dump_if_wanted(rt);
        fi_long_run_check(rt, tick, now);
        quiescent = !fi_stall_check(rt, &stall, now);
        quiescent = fi_deadlock_check(rt, &quiescence, now) && quiescent;
        if (now >= trim_at) {
            n_cached = fi_fiber_cache_trim(rt);
            trim_at = now + TRIM_NS;
        }
        quiescent = quiescent && n_cached == 0;
        if (quiescent)
            sleep_while_quiescent(rt, epoch);
        else
            fi_eventcount_wait(&wakeup, epoch, now + tick);
        fi_watchdog_state_wake(&fi_watchdog_global_state);
    }
}

/* ---- without the thread ---- */

static void report_absent(fi_runtime *rt, int e)
{
    char message[192];
    int n = snprintf(message, sizeof message,
                     "filch: watchdog: cannot start the thread (%s); fibers that hold their worker "
                     "are not reported\n",
                     strerror(e));
    ssize_t done = write(STDERR_FILENO, message, (size_t)n);

    (void)done; /* there is nowhere else to report it */
    fi_store_relaxed(&rt->watchdog.absent, 1u);
    fi_lock_lock(&unwatched_lock);
    fi_store_relaxed(&unwatched_runtime, rt);
    fi_lock_unlock(&unwatched_lock);
}

/* A signal handler cannot wake a worker.  If there is a dump signal, a worker checks again soon. */
int64_t fi_watchdog_check_as_worker(fi_runtime *rt, bool searching)
{
    int64_t now, until;

    if (!fi_load_relaxed(&rt->watchdog.absent))
        return FI_FUTEX_FOREVER;
    fi_lock_lock(&unwatched_lock);
    fi_store_relaxed(&rt->watchdog.check_wanted, 0u);
    fi_lock_unlock(&unwatched_lock);
    dump_if_wanted(rt);
    now = fi_clock_now();
    until = fi_deadlock_check_as_worker(rt, searching, now);
    return rt->settings.dump_signal && until > now + SIGNAL_NS ? now + SIGNAL_NS : until;
}

/* ---- start ---- */

/* Signals are blocked, so that the program's own threads get them. */
static void start_thread(fi_runtime *rt)
{
    sigset_t all, mask;
    int e;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &mask);
    e = pthread_create(&rt->watchdog.thread, NULL, watchdog_main, rt);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    rt->watchdog.running = e == 0;
    if (e != 0)
        report_absent(rt, e);
}

void fi_watchdog_start(fi_runtime *rt)
{
    if (rt->in_fork_child)
        return;
    fi_lock_lock(&rt->watchdog.lock);
    if (!fi_load_relaxed(&rt->watchdog.started))
        start_thread(rt);
    fi_store_relaxed(&rt->watchdog.started, 1u);
    fi_lock_unlock(&rt->watchdog.lock);
}

/* ---- the signal ---- */

static void request_dump(int number)
{
    int e = errno;

    (void)number;
    fi_store_relaxed(&dump_wanted, 1u);
    wake_thread();
    errno = e;
}

/* SA_ONSTACK, because the stacks of fibers may be small. */
static void install_dump_signal(int number)
{
    struct sigaction a = {.sa_handler = request_dump, .sa_flags = SA_RESTART | SA_ONSTACK};

    sigemptyset(&a.sa_mask);
    sigaction(number, &a, &previous_action);
}

/* Does nothing if the program has installed another handler since. */
static void restore_dump_signal(int number)
{
    struct sigaction now;

    if (sigaction(number, NULL, &now) == 0 && now.sa_handler == request_dump)
        sigaction(number, &previous_action, NULL);
}

void fi_watchdog_init(fi_runtime *rt)
{
    if (fi_load_relaxed(&wakeup_fd) < 0)
        fi_store_relaxed(&wakeup_fd, timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
    fi_gdb_layout_set_runtime(rt);
    fi_store_relaxed(&dump_wanted, 0u);
    if (rt->settings.dump_signal) {
        install_dump_signal(rt->settings.dump_signal);
        fi_watchdog_start(rt);
    }
}

void fi_watchdog_fini(fi_runtime *rt)
{
    if (rt->settings.dump_signal)
        restore_dump_signal(rt->settings.dump_signal);
    fi_store_relaxed(&rt->watchdog.stopping, 1u);
    fi_lock_lock(&unwatched_lock);
    fi_store_relaxed(&unwatched_runtime, NULL);
    fi_lock_unlock(&unwatched_lock);
    wake_thread();
    if (rt->watchdog.running)
        pthread_join(rt->watchdog.thread, NULL);
    fi_watchdog_state_wake(&fi_watchdog_global_state);
    fi_gdb_layout_set_runtime(NULL);
}

/* [child of a fork] No thread is blocked, and there is no watchdog thread. */
static void watchdog_fork_child(void)
{
    fi_store_relaxed(&wakeup_fd, -1); /* not closed: the program may have reused the number */
    fi_store_relaxed(&fi_watchdog_global_state, UINT64_C(0));
    fi_store_relaxed(&unwatched_runtime, NULL);
    fi_lock_init(&unwatched_lock);
}

__attribute__((constructor)) static void register_at_fork(void)
{
    fi_at_fork(FI_FORK_WATCHDOG, NULL, watchdog_fork_child);
}
