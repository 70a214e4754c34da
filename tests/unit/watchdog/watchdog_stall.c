/* A signal handler keeps a worker's thread from running, while it is the one that blocks in the
 * poller or sleeps until the next timer.  The other workers take over. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "unit/io/helpers.h"

#include "sched/watchdog.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#define BOUND_MS 60000 /* until the test fails: far longer than a loaded machine needs */

/* ---- stopping a thread in a signal handler ---- */

static int thaw[2];
static atomic_int frozen;

static void freeze(int number)
{
    int e = errno;
    char c;

    (void)number;
    atomic_fetch_add(&frozen, 1);
    while (read(thaw[0], &c, 1) < 0 && errno == EINTR)
        ;
    atomic_fetch_sub(&frozen, 1);
    errno = e;
}

static void begin_freeze(int tid)
{
    struct sigaction a = {.sa_handler = freeze, .sa_flags = SA_ONSTACK};

    CHECK_INT(pipe(thaw), 0);
    CHECK_INT(sigaction(SIGUSR1, &a, NULL), 0);
    CHECK_INT(syscall(SYS_tgkill, getpid(), tid, SIGUSR1), 0);
    while (!atomic_load(&frozen))
        sched_yield();
}

static void end_freeze(void)
{
    CHECK_INT(write(thaw[1], "x", 1), 1);
    while (atomic_load(&frozen))
        sched_yield();
    close(thaw[0]);
    close(thaw[1]);
}

/* ---- the thread of a sleeper ---- */

static fi_sleeper *the_poller(fi_runtime *rt)
{
    return fi_load_relaxed(&rt->idle.polling);
}

static fi_sleeper *the_timer_sleeper(fi_runtime *rt)
{
    fi_sleeper *s;

    fi_lock_lock(&rt->idle.lock);
    s = rt->idle.timer_sleeper;
    fi_lock_unlock(&rt->idle.lock);
    return s;
}

static bool is_asleep(fi_runtime *rt)
{
    return fi_load_relaxed(&rt->idle.state) == rt->n_workers;
}

/* Wait until all workers sleep and one has this role; return its thread id. */
static int thread_of(fi_sleeper *(*which)(fi_runtime *rt))
{
    int tid = 0;

    while (tid == 0) {
        fi_runtime *rt = fi_runtime_lock_running();
        fi_sleeper *s = is_asleep(rt) ? which(rt) : NULL;
        for (unsigned i = 0; s && i < rt->n_workers; i++)
            if (&rt->workers[i].sleeper == s)
                tid = fi_load_relaxed(&rt->workers[i].tid);
        fi_runtime_unlock_running();
        sched_yield();
    }
    return tid;
}

static bool watchdog_sleeps(void)
{
    return fi_load_relaxed(&fi_watchdog_global_state) & FI_WATCHDOG_ASLEEP;
}

/* ---- requests ---- */

static int request[2];

static void *echo(void *arg)
{
    char c;

    (void)arg;
    while (filch_read(request[0], &c, 1) == 1)
        CHECK_INT(filch_write_all(request[0], &c, 1), 1);
    return NULL;
}

static void send_request(void)
{
    struct pollfd p = {.fd = request[1], .events = POLLIN};
    char c = 'x';

    CHECK_INT(write(request[1], &c, 1), 1);
    CHECK_INT(poll(&p, 1, BOUND_MS), 1);
    CHECK_INT(read(request[1], &c, 1), 1);
}

static void request_beside_frozen_poller(bool beside_sleeping_watchdog)
{
    filch_fiber *f;

    CHECK_INT(filch_socketpair(request), 0);
    f = filch_fiber_start(echo, NULL);
    await_waiting(request[0], FI_IO_READ, 1);
    while (beside_sleeping_watchdog && !watchdog_sleeps())
        sched_yield();
    begin_freeze(thread_of(the_poller));
    for (int i = 0; i < 5; i++)
        send_request();
    end_freeze();
    for (int i = 0; i < 5; i++)
        send_request();
    CHECK_INT(filch_close(request[1]), 0);
    CHECK_INT(filch_fiber_join(f, NULL), 0);
    CHECK_INT(filch_close(request[0]), 0);
}

/* With a single worker no other can take over. */
static void poller_is_frozen(void)
{
    if (filch_worker_count() == 1)
        return;
    request_beside_frozen_poller(false);
    request_beside_frozen_poller(true);
}

/* ---- timers ---- */

static int fired[2];

static void *sleep_and_write(void *arg)
{
    for (int i = 0; i < 2; i++) {
        CHECK_INT(filch_sleep(FILCH_MS(300)), 0);
        CHECK_INT(write(fired[1], "x", 1), 1);
    }
    return arg;
}

static void await_fired(void)
{
    struct pollfd p = {.fd = fired[0], .events = POLLIN};
    char c;

    CHECK_INT(poll(&p, 1, BOUND_MS), 1);
    CHECK_INT(read(fired[0], &c, 1), 1);
}

static void timer_sleeper_is_frozen(void)
{
    filch_fiber *f;

    if (filch_worker_count() == 1)
        return;
    CHECK_INT(pipe(fired), 0);
    f = filch_fiber_start(sleep_and_write, NULL);
    begin_freeze(thread_of(the_timer_sleeper));
    await_fired();
    await_fired();
    end_freeze();
    CHECK_INT(filch_fiber_join(f, NULL), 0);
    close(fired[0]);
    close(fired[1]);
}

WITH_WORKERS(poller_is_frozen)
WITH_WORKERS(timer_sleeper_is_frozen)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_EACH(test_poller_is_frozen, test_timer_sleeper_is_frozen)};

    if (FI_UNDER_TSAN) {
        puts("skipped: ThreadSanitizer delays signals until the thread runs");
        return 77;
    }
    return CHECK_RUN(tests);
}
