/* The watchdog thread: check, then sleep until the next tick or until it is notified.  Also the
 * signal that requests a dump. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pthread_setname_np */
#endif
#include "debug/watchdog.h"

#include "base/clock.h"
#include "debug/dump.h"
#include "debug/layout.h"
#include "sched/hooks.h"
#include "sched/worker.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define TICK_NS     5000000
#define TICK_NS_MIN 500000
#define SIGNAL_NS   50000000
#define TRIM_NS     200000000 /* memory that no fiber used for this long is freed ... */
#define TRIM_BUSY   10        /* ... in about a tenth of the time, */
#define TRIM_IDLE   2         /* or in half of the time while all workers sleep */

/* ---- the dump signal ---- */

/* There is one runtime at a time.  These outlive it, because a signal may still be pending. */
static FI_ATOMIC(uint32_t) dump_wanted;
static struct sigaction previous_action;

static void dump_if_wanted(fi_runtime *rt)
{
    if (!fi_load_relaxed(&dump_wanted))
        return;
    fi_store_relaxed(&dump_wanted, 0u);
    fi_dump_message(rt, FILCH_LEVEL_INFO);
    fi_runtime_hooks.incident(rt, FI_INCIDENT_SIGNAL);
}

static void request_dump(int number)
{
    int e = errno;

    (void)number;
    fi_store_relaxed(&dump_wanted, 1u);
    fi_watchdog_wake();
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

void fi_debug_begin(fi_runtime *rt)
{
    fi_layout_set_runtime(rt);
    fi_store_relaxed(&dump_wanted, 0u);
    if (rt->settings.dump_signal) {
        install_dump_signal(rt->settings.dump_signal);
        fi_watchdog_start(rt);
    }
}

void fi_debug_end(fi_runtime *rt)
{
    if (rt->settings.dump_signal)
        restore_dump_signal(rt->settings.dump_signal);
    fi_layout_set_runtime(NULL);
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

static void name_thread(const fi_runtime *rt)
{
    char name[16];

    snprintf(name, sizeof name, "%.9s-watch", rt->settings.name);
    pthread_setname_np(pthread_self(), name);
}

/* When the memory of ended fibers is freed. */
typedef struct trim_times {
    int64_t begin_at; /* the next check which memory was not used */
    int64_t pause_until;
    bool more; /* there is such memory */
} trim_times;

/* The memory of many fibers takes seconds of CPU time to free, which the workers may need.  So it
 * is freed in slices, with pauses between them: one part of the time in `part`, and to the nearest
 * tick. */
static void trim_slice(fi_runtime *rt, trim_times *t, int64_t now, int64_t tick, int part)
{
    int64_t end = now;

    if (now >= t->begin_at) {
        fi_fiber_cache_begin_trim(rt);
        t->begin_at = now + TRIM_NS;
        t->more = true;
    }
    if (now + tick / 2 < t->pause_until)
        return;
    while (t->more && end < now + tick / part) {
        t->more = fi_fiber_cache_trim(rt);
        end = fi_clock_now();
    }
    t->pause_until = now + (end - now) * part;
}

void fi_debug_watchdog_main(fi_runtime *rt)
{
    int64_t tick = tick_length(rt);
    trim_times trim = {0};
    fi_quiescence quiescence = {0};
    fi_stall stall = {0};

    name_thread(rt);
    fi_fiber_cache_enable(rt);
    for (;;) {
        uint32_t epoch = fi_watchdog_prepare();
        int64_t now = fi_clock_now();
        bool quiescent;
        if (fi_load_relaxed(&rt->watchdog.stopping))
            return;
        fi_store_relaxed(&rt->coarse_now_ns, now);
        dump_if_wanted(rt);
        fi_long_run_check(rt, tick, now);
        quiescent = !fi_stall_check(rt, &stall, now);
        quiescent = fi_deadlock_check(rt, &quiescence, now) && quiescent;
        trim_slice(rt, &trim, now, tick, quiescent ? TRIM_IDLE : TRIM_BUSY);
        quiescent = quiescent && fi_fiber_cache_size(rt) == 0;
        if (quiescent)
            fi_watchdog_wait_polling(rt, epoch, fi_stall_deadline(rt));
        else
            fi_watchdog_wait(epoch, now + tick);
        fi_watchdog_state_wake(&fi_watchdog_global_state);
    }
}

/* A signal handler cannot wake a worker.  If there is a dump signal, a worker checks again soon. */
int64_t fi_debug_watchdog_check(fi_runtime *rt, bool searching)
{
    int64_t now, until;

    dump_if_wanted(rt);
    now = fi_clock_now();
    until = fi_deadlock_check_as_worker(rt, searching, now);
    return rt->settings.dump_signal && until > now + SIGNAL_NS ? now + SIGNAL_NS : until;
}
