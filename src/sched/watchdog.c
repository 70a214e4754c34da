/* The callers' side of the watchdog: its start and stop, how it is woken, and the count of threads
 * that wait.  The thread itself is debug/watchdog_thread.c. */
#include "sched/watchdog.h"

#include "base/at_fork.h"
#include "base/clock.h"
#include "base/eventcount.h"
#include "base/message.h"
#include "sched/hooks.h"
#include "sched/worker.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

fi_watchdog_state fi_watchdog_global_state;

/* There is one runtime at a time.  These outlive it, because a signal may still be pending. */
static fi_eventcount wakeup; /* the watchdog thread waits on it */

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

void fi_watchdog_wake(void)
{
    fi_eventcount_notify(&wakeup);
    set_wakeup_fd(true);
}

void fi_watchdog_notify(void)
{
    if (fi_watchdog_state_wake(&fi_watchdog_global_state))
        fi_watchdog_wake();
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
        fi_watchdog_wake();
    if (fi_load_relaxed(&unwatched_runtime))
        wake_worker();
}

void fi_watchdog_thread_unblocks(void)
{
    if (fi_watchdog_state_change(&fi_watchdog_global_state, 0 - FI_WATCHDOG_THREAD))
        fi_watchdog_wake();
}

/* ---- the waits of the thread ---- */

uint32_t fi_watchdog_prepare(void)
{
    return fi_eventcount_prepare(&wakeup);
}

void fi_watchdog_wait(uint32_t epoch, int64_t deadline_ns)
{
    fi_eventcount_wait(&wakeup, epoch, deadline_ns);
}

void fi_watchdog_wait_polling(fi_runtime *rt, uint32_t epoch, int64_t deadline_ns)
{
    fi_poller *p = fi_poller_get(rt);
    struct pollfd fds[] = {{.fd = fi_load_relaxed(&wakeup_fd), .events = POLLIN},
                           {.fd = p ? p->fd : -1, .events = POLLIN}};

    if (fds[0].fd < 0 || fds[1].fd < 0 || fi_load_relaxed(&rt->idle.n_interests) == 0) {
        fi_watchdog_wait(epoch, deadline_ns);
        return;
    }
    poll(fds, 2, fi_clock_left_ms(deadline_ns));
    if ((fds[0].revents | fds[1].revents) & POLLNVAL)
        fi_store_relaxed(&wakeup_fd, -1); /* the program closed one: use the futex from now on */
    else
        set_wakeup_fd(false);
}

/* ---- without the thread ---- */

static void report_absent(fi_runtime *rt, int e)
{
    fi_message(FILCH_LEVEL_WARNING,
               "watchdog: cannot start the thread (%s); fibers that hold their worker are not "
               "reported",
               strerror(e));
    fi_store_relaxed(&rt->watchdog.absent, 1u);
    fi_lock_lock(&unwatched_lock);
    fi_store_relaxed(&unwatched_runtime, rt);
    fi_lock_unlock(&unwatched_lock);
}

int64_t fi_watchdog_check_as_worker(fi_runtime *rt, bool searching)
{
    if (!fi_load_relaxed(&rt->watchdog.absent))
        return FI_FUTEX_FOREVER;
    fi_lock_lock(&unwatched_lock);
    fi_store_relaxed(&rt->watchdog.check_wanted, 0u);
    fi_lock_unlock(&unwatched_lock);
    return fi_runtime_hooks.watchdog_check(rt, searching);
}

/* ---- start and stop ---- */

static void *watchdog_thread_main(void *rt)
{
    fi_runtime_hooks.watchdog_main(rt);
    return NULL;
}

/* Signals are blocked, so that the program's own threads get them. */
static void start_thread(fi_runtime *rt)
{
    sigset_t all, mask;
    int e;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &mask);
    e = pthread_create(&rt->watchdog.thread, NULL, watchdog_thread_main, rt);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    fi_store_relaxed(&rt->watchdog.running, e == 0);
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

void fi_watchdog_init(fi_runtime *rt)
{
    if (fi_load_relaxed(&wakeup_fd) < 0)
        fi_store_relaxed(&wakeup_fd, timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
    fi_runtime_hooks.debug_begin(rt);
}

void fi_watchdog_fini(fi_runtime *rt)
{
    fi_runtime_hooks.debug_end(rt);
    fi_store_relaxed(&rt->watchdog.stopping, 1u);
    fi_lock_lock(&unwatched_lock);
    fi_store_relaxed(&unwatched_runtime, NULL);
    fi_lock_unlock(&unwatched_lock);
    fi_watchdog_wake();
    if (fi_load_relaxed(&rt->watchdog.running))
        pthread_join(rt->watchdog.thread, NULL);
    fi_watchdog_state_wake(&fi_watchdog_global_state);
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
