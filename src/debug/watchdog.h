/* What the watchdog thread checks, and what src/debug gives to the hooks of the runtime
 * (sched/hooks.h). */
#ifndef FI_DEBUG_WATCHDOG_H
#define FI_DEBUG_WATCHDOG_H

#include "sched/watchdog.h"

/* [hooks] watchdog_thread.c */
void fi_debug_begin(fi_runtime *rt);
void fi_debug_end(fi_runtime *rt);
void fi_debug_watchdog_main(fi_runtime *rt);
int64_t fi_debug_watchdog_check(fi_runtime *rt, bool searching);

/* [watchdog, once per period] Find fibers that hold their worker for too long.
 * long_running.c */
void fi_long_run_check(fi_runtime *rt, int64_t period_ns, int64_t now_ns);

/* [watchdog] State about the worker that blocks in the poller, and about the timer sleeper.
 * stall.c */
typedef struct fi_stall {
    uint32_t polls;   /* identifies the wait in the poller (fi_idle_poll_seq) */
    int64_t since_ns; /* since when it ignores pending events; 0: it does not */
    /* since when each check has found work and a sleeping worker; 0: the last one did not */
    int64_t work_since_ns;
} fi_stall;

/* [watchdog] Handle events and late timers in place of a worker that does not run.  True: check
 * again at the next tick. */
bool fi_stall_check(fi_runtime *rt, fi_stall *s, int64_t now_ns);

/* [watchdog] The time at which the next timer counts as late; FI_TIMER_NEVER: there is none. */
int64_t fi_stall_deadline(fi_runtime *rt);

/* [watchdog] True: all workers have been asleep for long enough, the bit ASLEEP is set, and there
 * is nothing to check.  deadlock.c */
bool fi_deadlock_check(fi_runtime *rt, fi_quiescence *q, int64_t now_ns);

/* [worker that has nothing to do, maybe a searcher] The same without a watchdog.  Returns: the
 * latest time to check again; FI_FUTEX_FOREVER: when something has changed. */
int64_t fi_deadlock_check_as_worker(fi_runtime *rt, bool searching, int64_t now_ns);

#endif
