/* Time, as deadlines are given: nanoseconds of a clock that never goes back.
 *
 *     #include <filch/time.h>
 *     #include <stdio.h>
 *
 *     int main(void)
 *     {
 *         int64_t deadline = filch_now() + FILCH_MS(10);
 *         while (filch_now() < deadline)
 *             continue;
 *         puts("10 milliseconds are over");
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

/* Now.  Calls that wait until a deadline return at once when it is over, and never give up for INT64_MAX.
 * Call from: any thread or fiber.  Blocks: nothing. */
FILCH_API int64_t filch_now(void);

FILCH_END_DECLS

#endif
