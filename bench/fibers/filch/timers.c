/* Many fibers sleep ten times each, for a pseudo-random 1 to 20 ms.  Metrics: CPU time, and how
 * late they wake.  The sleeps begin when all fibers have been started. */
#include "cases.h"

#include <errno.h>
#include <filch/chan.h>
#include <filch/fiber.h>
#include <filch/sync.h>
#include <filch/time.h>
#include <stdlib.h>

enum { SLEEPS = 10 };

typedef struct timers_run {
    filch_chan *closed_to_begin;
    filch_wait_group starting, running;
    int64_t *late; /* ns, SLEEPS per fiber */
} timers_run;

typedef struct sleeper {
    timers_run *run;
    uint32_t number;
} sleeper;

/* Depends only on the fiber's number and the sleep, and is the same in ../go. */
static int64_t next_duration(uint32_t *random)
{
    *random = *random * 1664525 + 1013904223;
    return FILCH_US(1000 + (*random >> 8) % 19001);
}

static void sleep_ten_times(void *arg)
{
    sleeper *s = arg;
    timers_run *r = s->run;
    uint32_t random = s->number;
    filch_wait_group_done(&r->starting);
    filch_chan_recv(r->closed_to_begin, NULL);
    for (int i = 0; i < SLEEPS; i++) {
        int64_t ns = next_duration(&random), begin = filch_now();
        must(filch_sleep(ns));
        r->late[s->number * SLEEPS + (uint32_t)i] = filch_now() - begin - ns;
    }
    filch_wait_group_done(&r->running);
}

static void start_all(timers_run *r, sleeper *all, long n)
{
    filch_wait_group_add(&r->starting, (unsigned)n);
    filch_wait_group_add(&r->running, (unsigned)n);
    for (long i = 0; i < n; i++) {
        all[i] = (sleeper){r, (uint32_t)i};
        must(filch_go(sleep_ten_times, &all[i]));
    }
    must(filch_wait_group_wait(&r->starting));
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void add_lateness(int64_t *late, long n)
{
    long p50 = n / 2, p99 = n - 1 - n / 100;

    qsort(late, (size_t)n, sizeof *late, by_size);
    metrics_add("late_p50_ms", (double)late[p50] / 1e6);
    metrics_add("late_p99_ms", (double)late[p99] / 1e6);
}

/* Number of fibers that never woke too early. */
static int64_t count_punctual(const int64_t *late, long n)
{
    int64_t punctual = 0;
    for (long i = 0; i < n; i++) {
        int64_t earliest = 0;
        for (int j = 0; j < SLEEPS; j++)
            earliest = late[i * SLEEPS + j] < earliest ? late[i * SLEEPS + j] : earliest;
        punctual += earliest == 0;
    }
    return punctual;
}

stopwatch timers(long n, int64_t *answer)
{
    timers_run r = {.closed_to_begin = filch_chan_new(0, 0)};
    sleeper *all = calloc((size_t)n, sizeof *all);
    r.late = calloc((size_t)n * SLEEPS, sizeof *r.late);
    if (!all || !r.closed_to_begin || !r.late)
        abort();
    start_all(&r, all, n);
    stopwatch w = stopwatch_start();
    must(filch_chan_close(r.closed_to_begin));
    must(filch_wait_group_wait(&r.running));
    stopwatch spent = stopwatch_read(w);
    *answer = count_punctual(r.late, n);
    metrics_add("cpu_ms", spent.cpu / 1e6);
    add_lateness(r.late, n * SLEEPS);
    filch_chan_free(r.closed_to_begin);
    free(r.late);
    free(all);
    return spent;
}
