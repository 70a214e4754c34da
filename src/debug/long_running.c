/* Long-running fibers: fibers that hold their worker and neither wait nor yield.
 *
 * A worker counts how often it looks for work.  While that count stays the same and the worker has
 * a fiber, the fiber neither waits nor yields.  The fiber in its next slot is then moved to the
 * global queue.  At each check a worker is woken if there is work in any queue.
 *
 * The time for which a fiber has held its worker begins when the watchdog thread first finds the
 * fiber there.  It is the time in which the worker's thread ran or was blocked in a system call.
 * Time in which the thread waited for a CPU does not count (base/thread_time.h).  The fiber is
 * reported when that time exceeds filch_config.watchdog_ns.  Tasks and jobs are meant to compute,
 * so they are counted and not reported. */
#include "base/clock.h"
#include "base/message.h"
#include "debug/dump.h"
#include "debug/watchdog.h"
#include "sched/hooks.h"
#include "sched/worker.h"

#define REPORT_INTERVAL_NS 1000000000 /* at most one report per interval */
#define NAME_MAX_SHOWN     64

/* Writes nothing if the worker has looked for work meanwhile: the name may be of another fiber. */
static void write_report(fi_worker *w, fi_fiber *f, uintptr_t body, int64_t held_ns)
{
    char name[NAME_MAX_SHOWN], function[128];

    fi_dump_name(f, name, sizeof name);
    fi_frame_name((const void *)body, function, sizeof function);
    if (fi_load_relaxed(&w->tick) != w->long_run.tick)
        return;
    fi_message(FILCH_LEVEL_WARNING, "fiber '%s' has held worker %u for %lld ms (%s)", name,
               w->index, (long long)(held_ns / 1000000), function);
}

static int64_t reported_ns; /* [watchdog thread] time of the last report; 0: none yet */

static bool may_report(const fi_long_run *h, uintptr_t body, int64_t now_ns)
{
    return !h->reported && body && (reported_ns == 0 || now_ns - reported_ns >= REPORT_INTERVAL_NS);
}

static void report_long_run(fi_worker *w, fi_fiber *f, uintptr_t body, int64_t now_ns)
{
    w->long_run.reported = true;
    reported_ns = now_ns;
    write_report(w, f, body, w->long_run.held_ns);
    fi_runtime_hooks.incident(w->runtime, FI_INCIDENT_LONG_RUN);
}

/* The fiber is counted after the report, so that a reader of the counter finds the report. */
static void count_long_run(fi_worker *w, fi_fiber *f, int64_t now_ns)
{
    uintptr_t body = fi_load_relaxed(&f->body);

    if (may_report(&w->long_run, body, now_ns))
        report_long_run(w, f, body, now_ns);
    if (!w->long_run.counted)
        fi_count(&w->n_long_runs);
    w->long_run.counted = true;
}

/* Add the time held since the last reading.  False: this was the first reading, or it failed. */
static bool measure_held(fi_worker *w, int64_t gap_ns)
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
    if (measure_held(w, gap_ns) && h->held_ns >= limit_ns && fi_load_relaxed(&w->tick) == tick)
        count_long_run(w, f, now_ns);
    return true;
}

/* Move the next slot of the worker, from which thieves do not steal, to the global queue
 * (sched/runq.h). */
static void share_next(fi_worker *w)
{
    fi_runnable *r;

    if (fi_runq_size(&w->ready) == 1 && fi_runq_steal(&w->ready, FI_LOCK_ID_NONE, 1, true, &r) == 1)
        fi_shared_queue_push(&w->runtime->global, r);
}

/* Work that a worker was expected to take itself woke no other worker.  So one is woken at each
 * check, and takes that work if it is stale (sched/find_work.c). */
void fi_long_run_check(fi_runtime *rt, int64_t period_ns, int64_t now_ns)
{
    for (unsigned i = 0; i < rt->n_workers; i++)
        if (check_worker(&rt->workers[i], rt->settings.watchdog_ns, 2 * period_ns, now_ns))
            share_next(&rt->workers[i]);
    if (fi_runtime_has_shared_work(rt))
        fi_idle_notify(&rt->idle);
}
