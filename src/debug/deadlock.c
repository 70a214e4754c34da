/* Fibers that wait for what can never come.
 *
 * All workers sleep, so only somebody else could wake a fiber: a timer, something that is watched (sched/poller.h), or a thread.
 * Of the first two there must be none.  A thread cannot if it waits in a call of ours, for what only fibers or such
 * threads bring, or has nothing to do.  So the threads of the process are counted: those that wait so, the workers and the
 * watcher must be all there are.
 *
 * That is certain, not likely.  While we snapshot, the lock of sched/idle.h keeps the workers asleep.  A thread that was
 * woken from a call of ours changes fi_watchdog_global_state before it can act, or before who woke it is over; so if the word is the
 * same after the threads were counted, those that it counted still wait, and there was nobody else.
 * To be sure of ourselves we snapshot twice.
 */
#include "base/clock.h"
#include "base/futex.h"
#include "debug/dump.h"
#include "sched/hooks.h"
#include "sched/worker.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define QUIET_NS                                                                                   \
    50000000 /* before the watcher believes that nothing goes on, and once more before it says that nothing can */

typedef struct snapshot {
    fi_runtime *rt;
    uint64_t sleeps, word;
    bool stuck;
} snapshot;

/* The folder has a link from each thread's, besides two of its own; 0: no such folder. */
static uint64_t threads_of_process(void)
{
    struct stat s;

    return stat("/proc/self/task", &s) == 0 && s.st_nlink > 2 ? (uint64_t)s.st_nlink - 2 : 0;
}

static bool nothing_may_come(fi_runtime *rt)
{
    return fi_timer_heap_next(&rt->timers) == FI_TIMER_NEVER &&
           fi_load_relaxed(&rt->idle.n_interests) == 0 && !fi_runtime_has_work(rt);
}

static bool any_fiber(const fi_runtime *rt)
{
    long busy = 0;

    for (unsigned i = 0; i < rt->n_workers; i++)
        busy += rt->workers[i].n_busy;
    return busy > 0;
}

/* [all workers but the caller are asleep, and cannot wake] */
static bool is_deadlock(fi_runtime *rt, uint64_t word, unsigned watchers)
{
    return any_fiber(rt) && nothing_may_come(rt) &&
           threads_of_process() == rt->n_workers + watchers + rt->n_observer_threads +
                                       fi_watchdog_state_threads(word) &&
           fi_load_relaxed(&fi_watchdog_global_state) == word;
}

static bool check_quiescent(void *ctx)
{
    snapshot *l = ctx;

    l->word = fi_load_relaxed(&fi_watchdog_global_state);
    for (unsigned i = 0; i < l->rt->n_workers; i++)
        l->sleeps += fi_load_relaxed(&l->rt->workers[i].counters.sleeps);
    return true;
}

static bool check_deadlock(void *ctx)
{
    snapshot *l = ctx;

    check_quiescent(l);
    l->stuck = l->rt->settings.deadlock != FILCH_DEADLOCK_OFF && is_deadlock(l->rt, l->word, 1);
    return true;
}

/* [all workers asleep, and kept so] Unless something was changed since we looked. */
static bool fall_asleep(void *ctx)
{
    return fi_watchdog_state_sleep(&fi_watchdog_global_state, *(const uint64_t *)ctx);
}

static void report(fi_runtime *rt)
{
    static const char line[] = "filch: all fibers are asleep and nothing can wake them\n";
    ssize_t done = write(STDERR_FILENO, line, sizeof line - 1);

    (void)done; /* there is nobody else to report */
    fi_dump(rt, STDERR_FILENO);
    fi_observe_hooks.incident(rt, FI_INCIDENT_DEADLOCK);
    if (rt->settings.deadlock == FILCH_DEADLOCK_ABORT)
        abort();
}

/* True: all is as it was, for long enough. */
static bool is_old(fi_quiescence *q, const snapshot *l, int64_t now_ns)
{
    if (q->since_ns == 0 || q->sleeps != l->sleeps || q->word != l->word) {
        *q = (fi_quiescence){.since_ns = now_ns, .sleeps = l->sleeps, .word = l->word};
        return false;
    }
    return now_ns - q->since_ns >= QUIET_NS;
}

bool fi_deadlock_check(fi_runtime *rt, fi_quiescence *q, int64_t now_ns)
{
    snapshot l = {.rt = rt};

    if (!fi_idle_all_asleep(&rt->idle, rt->n_workers, check_quiescent, &l) ||
        !is_old(q, &l, now_ns))
        return false;
    l = (snapshot){.rt = rt};
    if (!fi_idle_all_asleep(&rt->idle, rt->n_workers, check_deadlock, &l) || !is_old(q, &l, now_ns))
        return false;
    if (l.stuck && !q->told) {
        q->told = q->stuck;
        if (q->stuck)
            report(rt);
        q->stuck = true;
        q->since_ns = now_ns;
        return false;
    }
    return fi_idle_all_asleep(&rt->idle, rt->n_workers, fall_asleep, &l.word);
}

/* ---- without a watcher ---- */

typedef struct look_as_worker {
    fi_runtime *rt;
    int64_t now_ns, until_ns;
    bool tells;
} look_as_worker;

/* [all others are asleep, and cannot wake] Checks twice, as the watcher does. */
static bool check_as_worker(void *ctx)
{
    look_as_worker *l = ctx;
    fi_quiescence *q = &l->rt->watchdog.quiet;
    uint64_t word = fi_load_relaxed(&fi_watchdog_global_state);

    l->until_ns = FI_FUTEX_FOREVER;
    if (l->rt->settings.deadlock == FILCH_DEADLOCK_OFF || !is_deadlock(l->rt, word, 0)) {
        *q = (fi_quiescence){0};
        return true;
    }
    if (!q->stuck || q->word != word)
        *q = (fi_quiescence){.since_ns = l->now_ns, .word = word, .stuck = true};
    l->tells = !q->told && l->now_ns - q->since_ns >= QUIET_NS;
    q->told |= l->tells;
    if (!q->told)
        l->until_ns = q->since_ns + QUIET_NS;
    return true;
}

int64_t fi_deadlock_check_as_worker(fi_runtime *rt, bool searching, int64_t now_ns)
{
    look_as_worker l = {.rt = rt, .now_ns = now_ns, .until_ns = now_ns + QUIET_NS};
    unsigned others = rt->n_workers - 1 + (searching ? FI_IDLE_SEARCHER : 0);

    fi_idle_all_asleep(&rt->idle, others, check_as_worker, &l);
    if (l.tells)
        report(rt);
    return l.until_ns;
}
