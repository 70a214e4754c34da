/* Clock, sleep, timers and tickers.  Times and deadlines are nanoseconds of a monotonic clock.
 *
 *     #include <filch/time.h>
 *     #include <stdio.h>
 *
 *     static void late(void *arg)
 *     {
 *         puts((const char *)arg);
 *     }
 *
 *     int main(void)
 *     {
 *         filch_timer t = FILCH_TIMER_INIT;
 *         filch_timer_start(&t, filch_now() + FILCH_MS(5), late, (void *)"5 ms have passed");
 *         filch_sleep(FILCH_MS(10));
 *         filch_timer_stop_wait(&t);
 *         return 0;
 *     }
 */
#ifndef FILCH_TIME_H
#define FILCH_TIME_H

#include <filch/version.h>

#include <stdint.h>

FILCH_BEGIN_DECLS

/* Nanoseconds of n microseconds, milliseconds and seconds. */
#define FILCH_US(n) ((int64_t)(n)*1000)
#define FILCH_MS(n) ((int64_t)(n)*1000000)
#define FILCH_S(n)  ((int64_t)(n)*1000000000)

/* A deadline that never passes. */
#define FILCH_FOREVER INT64_MAX

/* Get the time.  Calls with a deadline give up when this is later than the deadline.
 * Call from: any thread or fiber.  Blocks: nothing.
 * Returns: nanoseconds of CLOCK_MONOTONIC. */
FILCH_API int64_t filch_now(void);

/* Sleep for ns nanoseconds, or until a deadline.  The sleep is not shorter, and up to about 50
 * microseconds longer, so that one wake-up serves several fibers.
 * Call from: any thread or fiber.  Blocks: the fiber or the thread.
 * Returns: 0: the time has passed.
 *     -ECANCELED: the fiber was cancelled.
 *     -ENOMEM: no memory to wait with a deadline. */
FILCH_API int filch_sleep(int64_t ns);
FILCH_API int filch_sleep_until(int64_t deadline);

/* A timer calls a function later, on its own fiber.  The caller provides its memory, and
 * initialises it with FILCH_TIMER_INIT or zeros before the first start.  The memory must stay
 * valid until filch_timer_stop has returned.  A timer that is pending when the runtime is stopped
 * never calls its function.  The fields are private. */
typedef struct filch_timer {
    void *word_[12];
} filch_timer;

/* clang-format off */
#define FILCH_TIMER_INIT {{0}}
/* clang-format on */

/* Call work(arg) at the deadline or soon after.  A pending timer is restarted: its earlier deadline
 * and function are dropped.  If it is firing at that moment, the earlier function is called as
 * well.
 * Call from: any thread or fiber, also the timer's function, also concurrently.
 * Blocks: nothing, except briefly for a lock.
 * Returns: 0: the timer is pending.
 *     -EINVAL: work is NULL.
 *     -ENOMEM: there is no memory.  The timer is not pending, and work will not be called.
 *     Other errors are those of filch_start, if the runtime cannot be started. */
FILCH_API int filch_timer_start(filch_timer *t, int64_t deadline, void (*work)(void *arg),
                                void *arg);

/* Start the timer again with another deadline, and with the function and argument of the last
 * filch_timer_start, whether it is pending, has fired, is stopped, or could not be started.
 * Call from: any thread or fiber, also the timer's function, also concurrently.
 * Blocks: nothing, except briefly for a lock.
 * Returns: 1: the timer was pending, and the call for the earlier deadline is dropped; 0: it was
 * not pending, and a call for the earlier deadline may be running or about to run.
 *     -EINVAL: the timer was never started.
 *     -ENOMEM: there is no memory.  The timer is not pending, and work will not be called.
 *     Other errors are those of filch_start, if the runtime cannot be started. */
FILCH_API int filch_timer_restart(filch_timer *t, int64_t deadline);

/* Stop the timer.  After this its memory may be freed, unless another thread starts the timer.  Its
 * function may still run.  A timer that was never started may be stopped.
 * Call from: any thread or fiber, also the timer's function, also concurrently.
 * Blocks: nothing, except briefly for a lock.
 * Returns: 1: the timer was pending, and work will not be called; 0: it was not pending, and work
 * may be running or about to run. */
FILCH_API int filch_timer_stop(filch_timer *t);

/* Stop the timer, and wait until its function does not run: all calls for this timer have returned,
 * also those that began before an earlier start or stop.  If the function starts the timer again
 * meanwhile, that is stopped, too.  A cancelled fiber still waits.
 * Call from: any thread or fiber, but not the timer's function.  Blocks: the fiber or the thread.
 * Returns: 1: the timer was pending, and its function will not be called for that deadline; 0: it
 * was not pending.
 *     -EDEADLK: called by the timer's function.  The timer is not stopped. */
FILCH_API int filch_timer_stop_wait(filch_timer *t);

/* A ticker calls a function periodically, on a fiber, one call at a time.  The caller provides its
 * memory, and initialises it with FILCH_TICKER_INIT or zeros before the first start.  The memory
 * must stay valid until filch_ticker_stop has returned.  A ticker that is started when the runtime
 * is stopped makes no further calls.  The fields are private. */
typedef struct filch_ticker {
    void *word_[24];
} filch_ticker;

/* clang-format off */
#define FILCH_TICKER_INIT {{0}}
/* clang-format on */

/* Call work(arg) at the time first, and then every period: at first + period, first + 2 * period
 * and so on.  A late call does not shift the later ones.  Times that pass while a call runs, or
 * while no worker is free, are skipped.
 * first: a time of filch_now(); the past means now.
 * period: nanoseconds.
 * Call from: any thread or fiber, also concurrently.
 * Blocks: nothing, except briefly for a lock.
 * Returns: 0: the ticker is started.
 *     -EINVAL: the period is 0 or negative, or work is NULL.
 *     -EBUSY: it is started already, or a call is still running.
 *     -ENOMEM: there is no memory.  Later calls need none.
 *     Other errors are those of filch_start, if the runtime cannot be started. */
FILCH_API int filch_ticker_start(filch_ticker *t, int64_t first, int64_t period,
                                 void (*work)(void *arg), void *arg);

/* Stop the ticker, and wait until a running call has returned.  The ticker's own function does not
 * wait: its call is the last one, and another filch_ticker_stop is needed before the memory is
 * freed.  A ticker that was never started may be stopped.  A cancelled fiber still waits.
 * Call from: any thread or fiber, also the ticker's function, also concurrently.
 * Blocks: the fiber or the thread.
 * Returns: 1: the ticker was started; 0: it was not. */
FILCH_API int filch_ticker_stop(filch_ticker *t);

FILCH_END_DECLS

#endif
