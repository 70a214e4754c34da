/* How a thread of this process spends its time, as the kernel reports it.
 *
 * A thread runs, or is blocked in a system call, or is runnable and waits for a CPU.  The first two
 * count as held, because the thread causes them.  The third does not count, because the busy
 * machine causes it.  No single number tells them apart:
 *
 *     run     the thread's CPU clock: exact, also while the thread runs
 *     wait    /proc/self/task/TID/schedstat: completed waits for a CPU, not one that lasts
 *     state   /proc/self/task/TID/stat: S or D is blocked; R is running or waiting
 *
 * Time between two readings that is neither run nor wait was blocked, or is a wait that still
 * lasts.  If the thread is blocked at the second reading, no wait lasts, and all of that time was
 * blocked.  Otherwise it is unknown, and none of it counts.  So the sum over all readings is never
 * more than the time held.  For a thread that only runs or only blocks it is exactly the time held.
 *
 * The three are not read at one moment.  So a reading has two times: an interval begins after the
 * whole first reading, and ends before the second one begins, with the state read first.  A wait
 * that ends in between is then counted in full as a wait, and held is again too small rather than
 * too large.
 *
 * Time in which the whole process was stopped (SIGSTOP, a debugger, a virtual machine) is in none
 * of the numbers.  The reader was stopped as well and reads late.  So the blocked time of an
 * interval is limited. */
#ifndef FI_BASE_THREAD_TIME_H
#define FI_BASE_THREAD_TIME_H

#include <stdbool.h>
#include <stdint.h>

typedef struct fi_thread_time {
    int64_t begin_ns, end_ns; /* of the reading, by CLOCK_MONOTONIC */
    int64_t run_ns, wait_ns;  /* in the thread's life */
    bool blocked;             /* false also where the kernel does not tell the waits */
} fi_thread_time;

/* [any thread] The CPU clock of the calling thread, by which other threads can read its times. */
int fi_thread_clock(void);

/* [any thread] The times of the thread with this clock, which may have ended.  False: they are not
 * known. */
bool fi_thread_time_read(int clock, fi_thread_time *t);

/* [any] The minimum time held between two readings.  max_ns: the limit of the blocked time. */
int64_t fi_thread_time_held(const fi_thread_time *last, const fi_thread_time *now, int64_t max_ns);

#endif
