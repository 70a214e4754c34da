/* The time for which a fiber holds its worker is never more than the time in which the thread
 * ran or was blocked, whenever it is read. */
#include "check.h"
#include "seed.h"

#include "base/rng.h"
#include "base/thread_time.h"

#include <stdbool.h>

#define MS(n) ((int64_t)(n)*1000000)

static fi_thread_time at(int64_t ms, int64_t run_ms, int64_t wait_ms, bool blocked)
{
    return (fi_thread_time){.begin_ns = MS(ms),
                            .end_ns = MS(ms),
                            .run_ns = MS(run_ms),
                            .wait_ns = MS(wait_ms),
                            .blocked = blocked};
}

static int64_t held(fi_thread_time last, fi_thread_time now, int64_t max_ms)
{
    return fi_thread_time_held(&last, &now, MS(max_ms)) / MS(1);
}

static void running_time_counts(void **state)
{
    (void)state;
    CHECK_INT(held(at(0, 5, 5, false), at(10, 15, 5, false), 1000), 10);
    CHECK_INT(held(at(0, 5, 5, false), at(10, 8, 12, false), 1000), 3);
}

static void blocked_time_counts(void **state)
{
    (void)state;
    CHECK_INT(held(at(0, 5, 5, true), at(10, 5, 5, true), 1000), 10);
    CHECK_INT(held(at(0, 5, 5, false), at(10, 8, 9, true), 1000), 6);
}

/* The kernel adds a wait to its counter when the wait ends. */
static void time_waiting_for_a_cpu_does_not_count(void **state)
{
    (void)state;
    CHECK_INT(held(at(0, 5, 5, false), at(1000, 5, 5, false), 1000), 0);
    CHECK_INT(held(at(1000, 5, 5, false), at(1010, 6, 1005, false), 1000), 1);
    CHECK_INT(held(at(1000, 5, 5, false), at(1010, 6, 1005, true), 1000), 1);
}

/* The reader was stopped, as by SIGSTOP and SIGCONT. */
static void a_late_reader_counts_at_most_the_maximum(void **state)
{
    (void)state;
    CHECK_INT(held(at(0, 5, 5, false), at(10000, 6, 5, true), 10), 11);
}

/* ---- random schedules, read at random times ---- */

enum { SEGMENTS = 200, READINGS = 100, LIVES = 2000 };

typedef enum thread_state { RUNS, WAITS, BLOCKED } thread_state;

/* The intervals in which a thread runs, is blocked or waits for a CPU. */
typedef struct schedule {
    thread_state what[SEGMENTS];
    int64_t until[SEGMENTS];
} schedule;

static void make_schedule(schedule *l, fi_rng *r, bool waits)
{
    int64_t now = 0;

    for (int i = 0; i < SEGMENTS; i++) {
        l->what[i] = (thread_state)fi_rng_below(r, 3);
        if (l->what[i] == WAITS && !waits)
            l->what[i] = RUNS;
        now += 1 + fi_rng_below(r, fi_rng_below(r, 4) == 0 ? 1000 : 10);
        l->until[i] = now;
    }
}

/* The time spent in this state until then. */
static int64_t sum(const schedule *l, thread_state what, int64_t then)
{
    int64_t ns = 0, from = 0;

    for (int i = 0; i < SEGMENTS && from < then; from = l->until[i++])
        if (l->what[i] == what)
            ns += (l->until[i] < then ? l->until[i] : then) - from;
    return ns;
}

static int64_t finished_waits(const schedule *l, int64_t then)
{
    int64_t ns = 0, from = 0;

    for (int i = 0; i < SEGMENTS && l->until[i] <= then; from = l->until[i++])
        if (l->what[i] == WAITS)
            ns += l->until[i] - from;
    return ns;
}

static bool is_blocked(const schedule *l, int64_t then)
{
    for (int i = 0; i < SEGMENTS; i++)
        if (then < l->until[i])
            return l->what[i] == BLOCKED;
    return false;
}

static int64_t later(int64_t *now, fi_rng *r)
{
    return *now += fi_rng_below(r, 4) == 0 ? fi_rng_below(r, 50) : 0;
}

/* Reads in the order of fi_thread_time_read, with random delays between. */
static fi_thread_time read_schedule(const schedule *l, int64_t *now, fi_rng *r)
{
    fi_thread_time t = {.begin_ns = *now};

    t.blocked = is_blocked(l, later(now, r));
    t.run_ns = sum(l, RUNS, later(now, r));
    t.wait_ns = finished_waits(l, later(now, r));
    t.end_ns = later(now, r);
    return t;
}

static void check_schedule(const schedule *l, fi_rng *r)
{
    int64_t now = fi_rng_below(r, 100), held_ns = 0;
    fi_thread_time last = read_schedule(l, &now, r);
    const int64_t began = last.begin_ns;

    for (int i = 0; i < READINGS; i++) {
        fi_thread_time next;
        int64_t ns;
        now += fi_rng_below(r, 100);
        next = read_schedule(l, &now, r);
        ns = fi_thread_time_held(&last, &next, INT64_MAX);
        CHECK(ns >= 0);
        held_ns += ns;
        last = next;
        CHECK(held_ns <= sum(l, RUNS, now) - sum(l, RUNS, began) + sum(l, BLOCKED, now) -
                             sum(l, BLOCKED, began));
        CHECK(held_ns >= last.run_ns - sum(l, RUNS, began) - 200);
    }
}

static void never_more_than_the_real_time(void **state)
{
    static schedule l;
    fi_rng r;

    (void)state;
    fi_rng_seed(&r, seed_get());
    for (int i = 0; i < LIVES; i++) {
        make_schedule(&l, &r, i % 2 == 0);
        check_schedule(&l, &r);
    }
}

CHECK_MAIN(running_time_counts, blocked_time_counts, time_waiting_for_a_cpu_does_not_count,
           a_late_reader_counts_at_most_the_maximum, never_more_than_the_real_time)
