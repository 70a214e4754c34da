/* Many fibers that sleep ten times each, for 1 to 20 milliseconds as chance will have it: what that costs, and how late
 * they come back.  They begin together, when all of them have been started. */
#include "cases.h"

#include <errno.h>
#include <filch/chan.h>
#include <filch/fiber.h>
#include <filch/sync.h>
#include <filch/time.h>
#include <stdlib.h>

enum { SLEEPS = 10 };

typedef struct bedroom {
    filch_chan *gate;
    filch_wait_group coming, leaving;
    int64_t *late; /* ns, SLEEPS for each fiber */
} bedroom;

typedef struct sleeper {
    bedroom *room;
    uint32_t number;
} sleeper;

/* The same in Go: a number that depends on nothing but the fiber and the sleep. */
static int64_t time_to_sleep(uint32_t *chance)
{
    *chance = *chance * 1664525 + 1013904223;
    return FILCH_US(1000 + (*chance >> 8) % 19001);
}

static void sleep_ten_times(void *arg)
{
    sleeper *s = arg;
    bedroom *room = s->room;
    uint32_t chance = s->number;
    filch_wait_group_done(&room->coming);
    filch_chan_recv(room->gate, NULL);
    for (int i = 0; i < SLEEPS; i++) {
        int64_t ns = time_to_sleep(&chance), begin = filch_now();
        must(filch_sleep(ns));
        room->late[s->number * SLEEPS + (uint32_t)i] = filch_now() - begin - ns;
    }
    filch_wait_group_done(&room->leaving);
}

static void fill(bedroom *room, sleeper *all, long n)
{
    filch_wait_group_add(&room->coming, (unsigned)n);
    filch_wait_group_add(&room->leaving, (unsigned)n);
    for (long i = 0; i < n; i++) {
        all[i] = (sleeper){room, (uint32_t)i};
        must(filch_go(sleep_ten_times, &all[i]));
    }
    must(filch_wait_group_wait(&room->coming));
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void tell_lateness(int64_t *late, long n)
{
    long middle = n / 2, last_but_1_percent = n - 1 - n / 100;

    qsort(late, (size_t)n, sizeof *late, by_size);
    metrics_add("late_p50_ms", (double)late[middle] / 1e6);
    metrics_add("late_p99_ms", (double)late[last_but_1_percent] / 1e6);
}

/* How many fibers never woke too early. */
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
    bedroom room = {.gate = filch_chan_new(0, 0)};
    sleeper *all = calloc((size_t)n, sizeof *all);
    room.late = calloc((size_t)n * SLEEPS, sizeof *room.late);
    if (!all || !room.gate || !room.late)
        abort();
    fill(&room, all, n);
    stopwatch w = stopwatch_start();
    must(filch_chan_close(room.gate));
    must(filch_wait_group_wait(&room.leaving));
    stopwatch spent = stopwatch_read(w);
    *answer = count_punctual(room.late, n);
    metrics_add("cpu_ms", spent.cpu / 1e6);
    tell_lateness(room.late, n * SLEEPS);
    filch_chan_free(room.gate);
    free(room.late);
    free(all);
    return spent;
}
