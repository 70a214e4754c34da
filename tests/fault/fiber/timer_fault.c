/* Every allocation of timers and tickers fails once: the caller gets the error, a timer that could
 * not be started does not fire, and a ticker that was started goes on. */
#include "fault/rounds.h"

#include "base/timer_heap.h"

#include <stdatomic.h>

enum { MANY = 200 }; /* more than the first two sizes of the timer heap */

/* ---- reserved timers, with no runtime ---- */

static int fired;

static void count_fired(fi_timer *t)
{
    (void)t;
    fired++;
}

/* The reserved timers are added again and again while the heap is as full as it can be. */
static int fill_heap(void *arg)
{
    static fi_timer timers[MANY], reserved[2];
    fi_timer_heap heap;
    int e = 0, n_reserved = 0, n = 0;

    (void)arg;
    fi_timer_heap_init(&heap);
    while (e == 0 && n_reserved < 2) {
        e = fi_timer_heap_reserve(&heap);
        n_reserved += e == 0;
    }
    for (; n < MANY && e == 0; n++) {
        timers[n] = (fi_timer){.deadline_ns = 1000 + n, .fire = count_fired};
        if (fi_timer_heap_add(&heap, &timers[n]) < 0) {
            e = -ENOMEM;
            break;
        }
    }
    for (int round = 1; round <= 5; round++) {
        fired = 0;
        for (int i = 0; i < n_reserved; i++) {
            reserved[i] = (fi_timer){.deadline_ns = round, .fire = count_fired, .heap = &heap};
            CHECK(fi_timer_heap_add_reserved(&reserved[i]) >= 0);
        }
        if (round == 3 && n_reserved > 0)
            CHECK(fi_timer_heap_remove(&reserved[0]));
        fi_timer_heap_fire(&heap, round);
        CHECK_INT(fired, n_reserved - (round == 3 && n_reserved > 0));
    }
    fired = 0;
    fi_timer_heap_fire(&heap, INT64_MAX - 1);
    CHECK_INT(fired, n);
    while (n_reserved-- > 0)
        fi_timer_heap_unreserve(&heap);
    CHECK_INT(heap.reserved, 0);
    fi_timer_heap_fini(&heap);
    return e;
}

static void reserved_timers_need_no_memory(void **state)
{
    (void)state;
    CHECK(inject_every(fill_heap, NULL) >= 4);
}

/* ---- in a runtime ---- */

static atomic_int ran, ticks;

static void count(void *counter)
{
    atomic_fetch_add((atomic_int *)counter, 1);
}

static void await_ticks(int n)
{
    int wanted = atomic_load(&ticks) + n;

    while (atomic_load(&ticks) < wanted)
        filch_yield();
}

/* All timers fire at once, because their deadline has passed.  Some are stopped. */
static int run_timers(filch_timer *t)
{
    int started = 0, stopped = 0, e = 0;

    atomic_store(&ran, 0);
    for (int i = 0; i < MANY; i++) {
        int result = filch_timer_start(&t[i], FILCH_FOREVER, count, &ran);
        if (result < 0)
            e = result;
    }
    for (int i = 0; i < MANY; i++) {
        int result = i % 2 ? filch_timer_restart(&t[i], 0) : 0;
        if (result < 0)
            e = result;
        started += i % 2 && result >= 0;
    }
    for (int i = 0; i < MANY; i++) {
        int result = filch_timer_stop_wait(&t[i]);
        stopped += i % 2 && result == 1;
        CHECK(result >= 0);
    }
    CHECK_INT(atomic_load(&ran) + stopped, started);
    return e;
}

/* Of the restart of a timer that could not be started. */
static void ignore_message(filch_level level, const char *text, void *ctx)
{
    (void)level;
    (void)text;
    (void)ctx;
}

static int run_all(void)
{
    static filch_timer t[MANY];
    filch_ticker ticker = FILCH_TICKER_INIT;
    int e = filch_ticker_start(&ticker, 0, FILCH_US(100), count, &ticks), other;

    if (e < 0)
        return e;
    memset(t, 0, sizeof t);
    filch_set_message_handler(ignore_message, NULL);
    other = run_timers(t);
    filch_set_message_handler(NULL, NULL);
    await_ticks(3);
    CHECK_INT(filch_ticker_stop(&ticker), 1);
    return other;
}

static void memory_runs_out(void **state)
{
    (void)state;
    for (unsigned variant = 0; variant < 4; variant++) /* the runtime, records, the timer heap */
        CHECK(fault_rounds(run_all, (fault_round){.workers = 1 + variant % 2,
                                                  .and_after = variant / 2}) > 10);
}

/* ---- without a runtime ---- */

static void restart_without_runtime(void *arg)
{
    filch_timer t = FILCH_TIMER_INIT;

    (void)arg;
    setenv("FILCH_STRICT", "1", 1);
    setenv("FILCH_WORKERS", "none", 1);
    if (filch_timer_start(&t, 0, count, &ran) != -EINVAL)
        _exit(3);
    if (filch_timer_stop_wait(&t) != 0)
        _exit(4);
    filch_timer_restart(&t, 0);
}

/* The message names the runtime, and not the timer. */
static void a_restart_after_a_failed_start(void **state)
{
    struct child_end end;

    (void)state;
    CHECK_INT(child_end_of(&end, restart_without_runtime, NULL), 0);
    CHECK_INT(end.status, 0);
    CHECK(strstr(end.text, "cannot start the runtime") != NULL);
    CHECK(strstr(end.text, "never started") == NULL);
}

CHECK_MAIN(a_restart_after_a_failed_start, reserved_timers_need_no_memory, memory_runs_out)
