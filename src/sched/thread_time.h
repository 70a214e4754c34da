/* How another thread of this process spends its time, as the kernel tells it.
 *
 * A thread runs, or is blocked in a system call, or is runnable and waits for a CPU.  The first two count as held: that is
 * what the thread itself does.  The third does not: that is the machine, which is busy.  No single number says which it was:
 *
 *     run     the thread's CPU clock: exact, also while it runs
 *     wait    /proc/self/task/TID/schedstat: waits for a CPU that are over.  One that goes on is not in it
 *     state   /proc/self/task/TID/stat: S or D is blocked; R is both running and waiting
 *
 * From one reading to the next, what is neither run nor wait was blocked or is a wait that goes on.  If the thread is blocked
 * at the second reading, no wait goes on, and all of it was blocked.  If it is not, we do not know, and none of it counts.  So
 * the sum over all readings is never more than the time that was held, and for a thread that only runs or only blocks it is
 * all of that.
 *
 * The three are not read at one moment.  So a reading has two times: an interval begins when all of the first reading was
 * done, and ends before the second began, with the state read first.  A wait that ends in between is then counted in full as a
 * wait, and held is again rather too small than too large.
 *
 * Time in which the whole process was stopped, by SIGSTOP, a debugger or a virtual machine, is in none of the numbers.  The
 * reader was stopped as well then, and comes late: of what was blocked, an interval counts for a given time at most. */
#ifndef FI_SCHED_THREAD_TIME_H
#define FI_SCHED_THREAD_TIME_H

#include <stdbool.h>
#include <stdint.h>

typedef struct fi_thread_time {
    int64_t begin_ns, end_ns; /* of the reading, by CLOCK_MONOTONIC */
    int64_t run_ns, wait_ns;  /* in the thread's life */
    bool blocked;             /* false also where the kernel does not tell the waits */
} fi_thread_time;

/* [any thread] The CPU clock of the calling thread, by which others can ask for its times. */
int fi_thread_clock(void);

/* [any thread] The times of the thread with this clock, which may have ended.  False: they are not known. */
bool fi_thread_time_read(int clock, fi_thread_time *t);

/* [any] The least time that was held from one reading to the next.  max_ns: the most that may have been blocked. */
int64_t fi_thread_time_held(const fi_thread_time *last, const fi_thread_time *now, int64_t max_ns);

#endif
