/* Clock, sleep and timers.  Times and deadlines are nanoseconds of a monotonic clock.
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
 *         filch_timer_stop(&t);
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
 *     -ENOMEM: there is no memory.  The timer is not pending, and work will not be called. */
FILCH_API int filch_timer_start(filch_timer *t, int64_t deadline, void (*work)(void *arg),
                                void *arg);

/* Stop the timer.  After this its memory may be freed, unless another thread starts the timer.
 * Call from: any thread or fiber, also the timer's function, also concurrently.
 * Blocks: nothing, except briefly for a lock.
 * Returns: 1: the timer was pending, and work will not be called; 0: work was called or is about to
 * be called, or the timer was never started. */
FILCH_API int filch_timer_stop(filch_timer *t);

FILCH_END_DECLS

#endif
