/* The watcher: a thread that looks after the others.
 *
 * It detects four things that workers cannot: a fiber that holds its worker (hog.c), fibers that
 * nothing can wake (stuck.c), a worker whose thread does not run although events or timers wait for
 * it (stall.c), and a request for a list of all fibers (dump.c).  And it gives memory back that
 * fibers have left behind.
 *
 * It is started with the first fiber that somebody starts by name: programs that have only tasks and jobs have none.  It
 * ticks while some worker is awake.  When all have been asleep for a while, it sleeps too, until one of them wakes:
 *
 *     the watcher                             a worker
 *     under the lock of sched/idle.h:         is woken, and so out of the list of sleepers, under that lock
 *       all asleep?  set the bit ASLEEP       the bit ASLEEP?  ring
 *     sleep
 *
 * Of the two locked parts one comes first; so either the watcher sees a worker that is awake, or that sees the bit.
 *
 * While it sleeps so, it also waits for the poller's descriptor, which wakes it together with the
 * worker that blocks there.
 *
 * If the thread cannot be started, a message says so, and a worker looks for deadlocks each time
 * before it sleeps.  While others are awake it sleeps only for a short time, so that the last
 * worker to fall asleep has looked.  A thread that begins to wait wakes a worker.  Fibers that hold
 * their worker are not detected then.
 *
 * The same word counts the threads that wait in a call of ours and that nothing but another call of ours can wake.  Each
 * change also counts up the other half of the word, so that it never looks the same again.
 */
#ifndef FI_SCHED_WATCHDOG_H
#define FI_SCHED_WATCHDOG_H

#include "base/atomic.h"
#include "base/lock.h"
#include "base/thread_time.h"
#include "sched/watchdog_state.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct fi_runtime fi_runtime;

/* What the watcher remembers of a worker. */
typedef struct fi_long_run {
    uint32_t tick;       /* that it was at */
    int clock;           /* of the thread that the rest is about; 0: nothing was read yet */
    fi_thread_time time; /* at the last reading */
    int64_t held_ns;     /* from the first reading to that */
    bool counted, told;
} fi_long_run;

/* State of a period in which all workers are asleep.  stuck.c */
typedef struct fi_quiescence {
    int64_t since_ns;
    uint64_t sleeps; /* number of times that workers had fallen asleep */
    uint64_t word;
    bool stuck, told;
} fi_quiescence;

/* Of one runtime. */
typedef struct fi_watchdog {
    FI_ATOMIC(uint32_t) started; /* not 0: there is a watcher, or there will be none */
    FI_ATOMIC(uint32_t) stopping;
    fi_lock lock; /* guards who begins it */
    bool running;
    pthread_t thread;
    FI_ATOMIC(uint32_t) absent; /* not 0: it could not be started, and workers look */
    FI_ATOMIC(uint32_t) wanted; /* not 0: one of them must look before it sleeps */
    fi_quiescence quiet;        /* of these workers; under the lock of sched/idle.h */
} fi_watchdog;

extern fi_watchdog_state fi_watchdog_global_state;

/* [any] Wake the watcher. */
void fi_watchdog_notify(void);

/* [thread that is no worker] From now on only somebody who calls fi_watchdog_thread_unblocks can wake me.
 * [who wakes it, while it cannot itself count as one that waits; or itself] It goes on. */
void fi_watchdog_thread_blocks(void);
void fi_watchdog_thread_unblocks(void);

/* [any, while the runtime is there] A fiber is started: let there be a watcher. */
void fi_watchdog_start(fi_runtime *rt);

/* [thread that starts the runtime; thread that stops it, when no work is left] */
void fi_watchdog_init(fi_runtime *rt);
void fi_watchdog_fini(fi_runtime *rt);

/* [worker, awake again] */
void fi_watchdog_worker_awake(fi_runtime *rt);

/* [watcher, once in a period] Which fibers hold their worker for too long?  hog.c */
void fi_long_run_check(fi_runtime *rt, int64_t period_ns, int64_t now_ns);

/* [watcher] State about the worker that blocks in the poller, or keeps the time.  stall.c */
typedef struct fi_stall {
    uint32_t polls; /* which wait in the poller it is (fi_idle_poll_seq) */
    int64_t
        since_ns; /* when there was something to tell and it had not come out; 0: it does as it should */
    /* since when there was work at each look, and a worker asleep; 0: there was not */
    int64_t work_since_ns;
} fi_stall;

/* [watcher] Handle events and late timers in place of a worker that does not run.  True: check
 * again at the next tick. */
bool fi_stall_check(fi_runtime *rt, fi_stall *s, int64_t now_ns);

/* [watcher] The time at which the next timer counts as late; FI_TIMER_NEVER: there is none. */
int64_t fi_stall_deadline(fi_runtime *rt);

/* [watcher] True: all have been asleep for long enough, the bit ASLEEP is set, and there is nothing to look at. */
bool fi_deadlock_check(fi_runtime *rt, fi_quiescence *q, int64_t now_ns);

/* [worker that has nothing to do, maybe a searcher] The same without a watcher.  Returns: the
 * latest time to look again; FI_FUTEX_FOREVER: when something has changed. */
int64_t fi_deadlock_check_as_worker(fi_runtime *rt, bool searching, int64_t now_ns);

/* [the same worker] Look for deadlocks without a watcher.  Returns: until when it may sleep. */
int64_t fi_watchdog_check_as_worker(fi_runtime *rt, bool searching);

/* [worker that is about to sleep, after a fence] Has something changed since it looked? */
static inline bool fi_watchdog_is_wanted(fi_watchdog *w)
{
    return fi_load_relaxed(&w->wanted) != 0;
}

#endif
