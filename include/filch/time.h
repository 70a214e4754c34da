/* Time, as deadlines are given: nanoseconds of a clock that never goes back.  Sleep, and things to do later.
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
 *         filch_timer_start(&t, filch_now() + FILCH_MS(5), late, (void *)"5 milliseconds are over");
 *         filch_sleep(FILCH_MS(10));
 *         filch_timer_stop(&t);
 *         return 0;
 *     }
 */
#ifndef FILCH_TIME_H
#define FILCH_TIME_H

#include <filch/version.h>

#include <stdint.h>

FILCH_BEGIN_DECLS

#define FILCH_US(n) ((int64_t)(n)*1000)
#define FILCH_MS(n) ((int64_t)(n)*1000000)
#define FILCH_S(n)  ((int64_t)(n)*1000000000)

#define FILCH_FOREVER INT64_MAX /* a deadline that never comes */

/* Now.  Calls that wait until a deadline return at once when it is over, and never give up for FILCH_FOREVER.
 * Call from: any thread or fiber.  Blocks: nothing. */
FILCH_API int64_t filch_now(void);

/* Wait so long; until then.  Not for less, and some 50 microseconds longer, so that several can be woken at once.
 * Call from: any thread or fiber.  Blocks: the fiber or the thread.
 * Returns: 0; -ECANCELED: not so long.  A program in which all sleep for ever is one that nothing can wake (filch_config.deadlock). */
FILCH_API int filch_sleep(int64_t ns);
FILCH_API int filch_sleep_until(int64_t deadline);

/* A timer calls a function later, on a fiber of its own.  The caller provides its memory, and
 * initialises it with FILCH_TIMER_INIT or zeros before the first start.  The memory must stay valid
 * until filch_timer_stop has returned.  A timer that is pending when the runtime is stopped never
 * calls its function.  The fields are Filch's. */
typedef struct filch_timer {
    void *word_[12];
} filch_timer;

/* clang-format off */
#define FILCH_TIMER_INIT {{0}}
/* clang-format on */

/* Call work(arg) at the deadline or soon after.  A pending timer is restarted: its earlier deadline
 * and function are dropped.  If it is firing at that moment, the earlier function is called as
 * well.
 * Call from: any thread or fiber, also the timer's function, several at once.
 * Blocks: nothing (for long).
 * Returns: 0; -ENOMEM: the timer is not pending, and work will not be called. */
FILCH_API int filch_timer_start(filch_timer *t, int64_t deadline, void (*work)(void *arg),
                                void *arg);

/* Stop the timer.  After this its memory may be freed, unless another thread starts the timer.
 * Call from: any thread or fiber, also the timer's function, several at once.
 * Blocks: nothing (for long).
 * Returns: 1: the timer was pending, and work will not be called; 0: work was called or is about to
 * be called, or the timer was never started. */
FILCH_API int filch_timer_stop(filch_timer *t);

FILCH_END_DECLS

#endif
