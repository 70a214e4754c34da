#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pthread_getcpuclockid */
#endif
#include "base/thread_time.h"

#include "base/clock.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_SECOND INT64_C(1000000000)

int fi_thread_clock(void)
{
    clockid_t clock;

    return pthread_getcpuclockid(pthread_self(), &clock) == 0 ? (int)clock : 0;
}

/* Linux computes the number of the clock from the thread id. */
static int thread_of(int clock)
{
    return ~(clock >> 3);
}

static bool read_run(int clock, int64_t *ns)
{
    struct timespec t;

    if (clock == 0 || clock_gettime((clockid_t)clock, &t) < 0)
        return false;
    *ns = (int64_t)t.tv_sec * NS_PER_SECOND + t.tv_nsec;
    return true;
}

/* The text of a file of the thread in /proc; empty: it cannot be read. */
static void read_file(int clock, const char *name, char *text, size_t size)
{
    char path[64];
    ssize_t n = 0;
    int fd;

    snprintf(path, sizeof path, "/proc/self/task/%d/%s", thread_of(clock), name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        n = read(fd, text, size - 1);
        close(fd);
    }
    text[n > 0 ? n : 0] = '\0';
}

/* The state follows the name, which may contain any characters. */
static bool is_blocked(int clock)
{
    char text[128];
    const char *name_end;

    read_file(clock, "stat", text, sizeof text);
    name_end = strrchr(text, ')');
    return name_end && name_end[1] == ' ' && (name_end[2] == 'S' || name_end[2] == 'D');
}

/* If the kernel does not count waits, the first number is 0 as well. */
static bool read_wait(int clock, int64_t *ns)
{
    char text[128], *second;

    read_file(clock, "schedstat", text, sizeof text);
    if (strtoll(text, &second, 10) == 0)
        return false;
    *ns = strtoll(second, NULL, 10);
    return true;
}

bool fi_thread_time_read(int clock, fi_thread_time *t)
{
    *t = (fi_thread_time){.begin_ns = fi_clock_now()};
    t->blocked = is_blocked(clock);
    if (!read_run(clock, &t->run_ns))
        return false;
    if (!read_wait(clock, &t->wait_ns))
        t->blocked = false;
    t->end_ns = fi_clock_now();
    return true;
}

int64_t fi_thread_time_held(const fi_thread_time *last, const fi_thread_time *now, int64_t max_ns)
{
    int64_t ran = now->run_ns - last->run_ns;
    int64_t blocked = now->begin_ns - last->end_ns - ran - (now->wait_ns - last->wait_ns);

    if (!now->blocked || blocked < 0)
        blocked = 0;
    return ran + (blocked < max_ns ? blocked : max_ns);
}
