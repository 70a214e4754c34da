/* The watchdog: a thread that monitors the workers.
 *
 * It detects four things that workers cannot: a fiber that holds its worker (debug/long_running.c),
 * fibers that nothing can wake (debug/deadlock.c), a worker whose thread does not run although
 * events or timers wait for it (debug/stall.c), and a request for a list of all fibers
 * (debug/dump.c).  It also frees the memory of ended fibers.
 *
 * It is started with the first fiber that the program starts explicitly, or with the first wait of
 * any fiber.  A program has none if its tasks and jobs only compute.  It ticks while a worker is
 * awake.  When all have been asleep for a while, it sleeps too, until one of them wakes:
 *
 *     the watchdog                            a worker
 *     under the lock of sched/idle.h:         under that lock:
 *       all asleep?  set the bit ASLEEP         is woken, and removed from the list of sleepers
 *     sleep                                   the bit ASLEEP?  notify the watchdog
 *
 * One of the two locked parts comes first.  So either the watchdog sees a worker that is awake, or
 * that worker sees the bit.
 *
 * While it sleeps so, it also waits for the poller's descriptor, which wakes it together with the
 * worker that blocks there.
 *
 * If the thread cannot be started, a message says so, and a worker checks for deadlocks each time
 * before it sleeps.  While others are awake it sleeps only for a short time, so that the last
 * worker to fall asleep has checked.  A thread that begins to wait wakes a worker.  Fibers that
 * hold their worker are not detected then.
 *
 * The same word counts the threads that wait in a call of Filch and that only another call of Filch
 * can wake.  Each change also increments the other half of the word, so it never has the same value
 * again.
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

/* The watchdog's state about a worker. */
typedef struct fi_long_run {
    uint32_t tick;       /* of the worker, at the last reading */
    int clock;           /* of the thread that the other fields are about; 0: not read yet */
    fi_thread_time time; /* at the last reading */
    int64_t held_ns;     /* from the first reading to the last */
    bool counted, reported;
} fi_long_run;

/* State of a period in which all workers are asleep (debug/deadlock.c). */
typedef struct fi_quiescence {
    int64_t since_ns;
    uint64_t sleeps; /* number of times that workers had fallen asleep */
    uint64_t state;  /* fi_watchdog_global_state at that time */
    bool is_deadlock, reported;
} fi_quiescence;

/* The watchdog of one runtime. */
typedef struct fi_watchdog {
    FI_ATOMIC(uint32_t) started; /* not 0: it was started, or its start has failed */
    FI_ATOMIC(uint32_t) stopping;
    fi_lock lock;            /* guards the start */
    FI_ATOMIC(bool) running; /* its thread runs, until the runtime stops */
    pthread_t thread;
    FI_ATOMIC(uint32_t) absent;       /* not 0: it could not be started, and workers check */
    FI_ATOMIC(uint32_t) check_wanted; /* not 0: a worker must check before it sleeps */
    fi_quiescence quiescence;         /* of these workers; under the lock of sched/idle.h */
    uint64_t reported_waits;          /* of the last reported deadlock; 0: none */
} fi_watchdog;

extern fi_watchdog_state fi_watchdog_global_state __attribute__((visibility("hidden")));

/* [any] Wake the watchdog if it sleeps until it is notified.
 * [any, also a signal handler] Wake it from every sleep. */
void fi_watchdog_notify(void);
void fi_watchdog_wake(void);

/* [watchdog] Sleep until the deadline, or until it was woken after the prepare that returned epoch.
 * wait_polling: or until the poller has events. */
uint32_t fi_watchdog_prepare(void);
void fi_watchdog_wait(uint32_t epoch, int64_t deadline_ns);
void fi_watchdog_wait_polling(fi_runtime *rt, uint32_t epoch, int64_t deadline_ns);

/* [thread that is not a worker] From now on only a thread that calls fi_watchdog_thread_unblocks
 * can wake the caller.
 * [its waker, while the waker cannot count as waiting; or the thread itself] It continues. */
void fi_watchdog_thread_blocks(void);
void fi_watchdog_thread_unblocks(void);

/* [any, while the runtime exists] A fiber is started: start the watchdog. */
void fi_watchdog_start(fi_runtime *rt);

/* [thread that starts the runtime; thread that stops it, when no work is left] */
void fi_watchdog_init(fi_runtime *rt);
void fi_watchdog_fini(fi_runtime *rt);

/* [worker, awake again] */
void fi_watchdog_worker_awake(fi_runtime *rt);

/* [worker that has nothing to do, maybe a searcher] Check in place of a watchdog that could not be
 * started.  Returns: the time until which the worker may sleep. */
int64_t fi_watchdog_check_as_worker(fi_runtime *rt, bool searching);

/* [worker that is about to sleep, after a fence] Has something changed since it checked? */
static inline bool fi_watchdog_check_is_wanted(fi_watchdog *w)
{
    return fi_load_relaxed(&w->check_wanted) != 0;
}

#endif
