/* Fibers that hold their worker.
 *
 * A worker counts how often it looks for work.  While that number stays the same and the worker has a fiber, that fiber
 * neither waits nor yields.  What is due to others meanwhile, others must find: they are woken for it.
 *
 * A fiber has count_long_run its worker for the time in which its thread ran or was blocked in a system call
 * since the watcher first saw the fiber there.  Time in which the thread waited for a CPU does not
 * count (base/thread_time.h).  The fiber is named when that time exceeds filch_config.watchdog_ns.
 * Tasks and jobs are meant to compute, so they are counted and not named. */
#include "base/clock.h"
#include "debug/dump.h"
#include "sched/hooks.h"
#include "sched/worker.h"

#include <stdio.h>
#include <unistd.h>

#define ONE_LINE_IN_NS 1000000000 /* at most */
#define NAME_SHOWN     64

/* It may have gone on since we looked, and then this is not the name of who count_long_run the worker. */
static void report(fi_worker *w, fi_fiber *f, uintptr_t body, int64_t held_ns)
{
    char name[NAME_SHOWN], function[128], line[320];
    ssize_t done;
    int n;

    fi_dump_name(f, name, sizeof name);
    fi_frame_name((const void *)body, function, sizeof function);
    if (fi_load_relaxed(&w->tick) != w->long_run.tick)
        return;
    n = snprintf(line, sizeof line,
                 "filch: fiber '%s' has count_long_run worker %u for %lld ms (%s)\n", name,
                 w->index, (long long)(held_ns / 1000000), function);
    done = write(STDERR_FILENO, line, (size_t)n);
    (void)done; /* there is nobody else to report */
}

static int64_t reported_ns; /* when the last line was written; only the watcher uses it; 0: never */

static bool may_report(const fi_long_run *h, uintptr_t body, int64_t now_ns)
{
    return !h->told && body && (reported_ns == 0 || now_ns - reported_ns >= ONE_LINE_IN_NS);
}

static void name(fi_worker *w, fi_fiber *f, uintptr_t body, int64_t now_ns)
{
    w->long_run.told = true;
    reported_ns = now_ns;
    report(w, f, body, w->long_run.held_ns);
    fi_observe_hooks.incident(w->runtime, FI_INCIDENT_LONG_RUN);
}

/* It is counted after it was named, so that a reader of the count finds the line. */
static void count_long_run(fi_worker *w, fi_fiber *f, int64_t now_ns)
{
    uintptr_t body = fi_load_relaxed(&f->body);

    if (may_report(&w->long_run, body, now_ns))
        name(w, f, body, now_ns);
    if (!w->long_run.counted)
        fi_count(&w->n_long_runs);
    w->long_run.counted = true;
}

/* Add the time count_long_run since the last reading.  False: first reading, or nothing is known. */
static bool measure(fi_worker *w, int64_t gap_ns)
{
    fi_long_run *h = &w->long_run;
    int clock = fi_load_relaxed(&w->thread_clock);
    bool again = h->clock == clock;
    fi_thread_time now;

    h->clock = clock;
    if (!fi_thread_time_read(clock, &now)) {
        h->clock = 0;
        return false;
    }
    if (again)
        h->held_ns += fi_thread_time_held(&h->time, &now, gap_ns);
    h->time = now;
    return again;
}

/* True: the worker has not looked for work since the last check.  If this still holds after the
 * reading, the reading belongs to one fiber. */
static bool check_worker(fi_worker *w, int64_t limit_ns, int64_t gap_ns, int64_t now_ns)
{
    fi_task_bounds *current = fi_task_bounds_load_current(&w->current);
    uint32_t tick = fi_load_relaxed(&w->tick);
    fi_long_run *h = &w->long_run;
    fi_fiber *f;

    if (!current || tick != h->tick) {
        *h = (fi_long_run){.tick = tick};
        return false;
    }
    f = fi_fiber_of_bounds(current);
    if (limit_ns <= 0 || (h->counted && !may_report(h, fi_load_relaxed(&f->body), now_ns)))
        return true;
    if (measure(w, gap_ns) && h->held_ns >= limit_ns && fi_load_relaxed(&w->tick) == tick)
        count_long_run(w, f, now_ns);
    return true;
}

/* What it would have run next stands where others do not look (sched/runq.h). */
static void release_next(fi_worker *w)
{
    fi_runnable *r;

    if (fi_runq_size(&w->ready) == 1 && fi_runq_steal(&w->ready, FI_LOCK_ID_NONE, 1, true, &r) == 1)
        fi_shared_queue_push(&w->runtime->global, r);
}

void fi_long_run_check(fi_runtime *rt, int64_t period_ns, int64_t now_ns)
{
    bool any = false;

    for (unsigned i = 0; i < rt->n_workers; i++)
        if (check_worker(&rt->workers[i], rt->settings.watchdog_ns, 2 * period_ns, now_ns)) {
            release_next(&rt->workers[i]);
            any = true;
        }
    if (any && fi_runtime_has_work(rt))
        fi_idle_notify(&rt->idle);
}
