/* The deadlock detector: fibers that nothing can wake.
 *
 * When all workers sleep, only a timer, the poller (sched/poller.h) or another thread can wake a
 * fiber.  In a deadlock no timer is pending and the poller has no interest.  A thread cannot wake a
 * fiber if it blocks in a Filch call that only fibers or other such threads can end.  So the
 * detector counts the threads of the process: the workers, the watchdog thread, the observer
 * threads and the threads blocked in such calls must be all of them.
 *
 * The result is certain, not a guess.  The lock of sched/idle.h keeps the workers asleep during the
 * check.  A thread that is woken from a blocking Filch call changes fi_watchdog_global_state before
 * it can act, or before the call that woke it returns.  So if the state is the same after the
 * threads were counted, the counted threads still block, and there was no other thread.  The
 * detector reports a deadlock only after two checks QUIESCENT_NS apart have found it.
 */
#include "base/clock.h"
#include "base/futex.h"
#include "base/message.h"
#include "debug/dump.h"
#include "debug/watchdog.h"
#include "sched/hooks.h"
#include "sched/timers.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* How long all workers must sleep before the runtime is quiescent, and before a deadlock is checked
 * a second time. */
#define QUIESCENT_NS 50000000

typedef struct idle_snapshot {
    fi_runtime *rt;
    uint64_t sleeps, state;
    bool is_deadlock;
} idle_snapshot;

/* The link count of /proc/self/task is 2 more than the number of threads.  0: /proc is not
 * mounted. */
static uint64_t process_thread_count(void)
{
    struct stat task_dir;

    return stat("/proc/self/task", &task_dir) == 0 && task_dir.st_nlink > 2
               ? (uint64_t)task_dir.st_nlink - 2
               : 0;
}

static bool has_no_wakeup_source(fi_runtime *rt)
{
    return fi_timers_next(rt) == FI_TIMER_NEVER && fi_load_relaxed(&rt->idle.n_interests) == 0 &&
           !fi_runtime_has_work(rt);
}

static bool has_fibers(const fi_runtime *rt)
{
    long busy = 0;

    for (unsigned i = 0; i < rt->n_workers; i++)
        busy += rt->workers[i].n_busy;
    return busy > 0;
}

/* [all workers except the caller are kept asleep] */
static bool runtime_is_deadlocked(fi_runtime *rt, uint64_t state, unsigned watchdogs)
{
    return has_fibers(rt) && has_no_wakeup_source(rt) &&
           process_thread_count() == rt->n_workers + watchdogs + rt->n_observer_threads +
                                         fi_watchdog_state_threads(state) &&
           fi_load_relaxed(&fi_watchdog_global_state) == state;
}

static bool check_quiescent(void *ctx)
{
    idle_snapshot *s = ctx;

    s->state = fi_load_relaxed(&fi_watchdog_global_state);
    for (unsigned i = 0; i < s->rt->n_workers; i++)
        s->sleeps += fi_load_relaxed(&s->rt->workers[i].counters.sleeps);
    return true;
}

static bool check_deadlock(void *ctx)
{
    idle_snapshot *s = ctx;

    check_quiescent(s);
    s->is_deadlock =
        s->rt->settings.deadlock != FILCH_DEADLOCK_OFF && runtime_is_deadlocked(s->rt, s->state, 1);
    return true;
}

/* [all workers are kept asleep] Fails if the state has changed since the check. */
static bool watchdog_fall_asleep(void *ctx)
{
    return fi_watchdog_state_sleep(&fi_watchdog_global_state, *(const uint64_t *)ctx);
}

/* [watchdog, or the worker that checks in its place]  A thread that wakes and waits again does not
 * make another deadlock of the same fibers. */
static void report_deadlock(fi_runtime *rt)
{
    bool fatal = rt->settings.deadlock == FILCH_DEADLOCK_ABORT;
    filch_level level = fatal ? FILCH_LEVEL_FATAL : FILCH_LEVEL_ERROR;
    uint64_t waits = fi_dump_waits_hash(rt);

    if (waits != 0 && waits == rt->watchdog.reported_waits)
        return;
    rt->watchdog.reported_waits = waits;
    fi_message(level, "all fibers are asleep and nothing can wake them");
    fi_dump_message(rt, level);
    fi_runtime_hooks.incident(rt, FI_INCIDENT_DEADLOCK);
    if (fatal)
        abort();
}

/* True: nothing has changed for QUIESCENT_NS. */
static bool is_unchanged(fi_quiescence *q, const idle_snapshot *s, int64_t now_ns)
{
    if (q->since_ns == 0 || q->sleeps != s->sleeps || q->state != s->state) {
        *q = (fi_quiescence){.since_ns = now_ns, .sleeps = s->sleeps, .state = s->state};
        return false;
    }
    return now_ns - q->since_ns >= QUIESCENT_NS;
}

bool fi_deadlock_check(fi_runtime *rt, fi_quiescence *q, int64_t now_ns)
{
    idle_snapshot s = {.rt = rt};

    if (!fi_idle_all_asleep(&rt->idle, rt->n_workers, check_quiescent, &s) ||
        !is_unchanged(q, &s, now_ns))
        return false;
    s = (idle_snapshot){.rt = rt};
    if (!fi_idle_all_asleep(&rt->idle, rt->n_workers, check_deadlock, &s) ||
        !is_unchanged(q, &s, now_ns))
        return false;
    if (s.is_deadlock && !q->reported) {
        q->reported = q->is_deadlock;
        if (q->is_deadlock)
            report_deadlock(rt);
        q->is_deadlock = true;
        q->since_ns = now_ns;
        return false;
    }
    return fi_idle_all_asleep(&rt->idle, rt->n_workers, watchdog_fall_asleep, &s.state);
}

/* ---- without a watchdog thread ---- */

typedef struct worker_check {
    fi_runtime *rt;
    int64_t now_ns, until_ns;
    bool report;
} worker_check;

/* [all other workers are kept asleep] Checks twice, as the watchdog thread does. */
static bool check_as_worker(void *ctx)
{
    worker_check *s = ctx;
    fi_quiescence *q = &s->rt->watchdog.quiescence;
    uint64_t state = fi_load_relaxed(&fi_watchdog_global_state);

    s->until_ns = FI_FUTEX_FOREVER;
    if (s->rt->settings.deadlock == FILCH_DEADLOCK_OFF || !runtime_is_deadlocked(s->rt, state, 0)) {
        *q = (fi_quiescence){0};
        return true;
    }
    if (!q->is_deadlock || q->state != state)
        *q = (fi_quiescence){.since_ns = s->now_ns, .state = state, .is_deadlock = true};
    s->report = !q->reported && s->now_ns - q->since_ns >= QUIESCENT_NS;
    q->reported |= s->report;
    if (!q->reported)
        s->until_ns = q->since_ns + QUIESCENT_NS;
    return true;
}

int64_t fi_deadlock_check_as_worker(fi_runtime *rt, bool searching, int64_t now_ns)
{
    worker_check s = {.rt = rt, .now_ns = now_ns, .until_ns = now_ns + QUIESCENT_NS};
    unsigned others = rt->n_workers - 1 + (searching ? FI_IDLE_SEARCHER : 0);

    fi_idle_all_asleep(&rt->idle, others, check_as_worker, &s);
    if (s.report)
        report_deadlock(rt);
    return s.until_ns;
}
