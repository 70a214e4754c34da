/* Tickers: the times of the calls, one call at a time, stop, and wrong arguments. */
#include "unit/fiber/helpers.h"

#include "sched/runtime.h"

/* ---- ticking ---- */

typedef struct record {
    filch_ticker ticker;
    int64_t first, period;
    atomic_int calls, inside, wrong;
    int yields; /* of each call */
    int64_t last;
    int stop_at; /* the call that stops the ticker; 0: none */
    atomic_int stopped;
} record;

/* Calls are not early, do not overlap, and are in different periods. */
static void tick(void *arg)
{
    record *r = arg;
    int64_t number = (filch_now() - r->first) / r->period;

    if (filch_now() < r->first || atomic_fetch_add(&r->inside, 1) != 0)
        atomic_fetch_add(&r->wrong, 1);
    if (atomic_load(&r->calls) > 0 && number <= r->last)
        atomic_fetch_add(&r->wrong, 1);
    r->last = number;
    for (int i = 0; i < r->yields; i++)
        filch_yield();
    atomic_fetch_sub(&r->inside, 1);
    if (atomic_fetch_add(&r->calls, 1) + 1 == r->stop_at)
        atomic_store(&r->stopped, filch_ticker_stop(&r->ticker));
}

static int start(record *r, int64_t first, int64_t period)
{
    r->first = first;
    r->period = period;
    return filch_ticker_start(&r->ticker, first, period, tick, r);
}

static void await_calls(record *r, int n)
{
    while (atomic_load(&r->calls) < n)
        filch_yield();
}

static int ticks(void)
{
    for (int yields = 0; yields < 100; yields += 33) {
        record r = {.yields = yields};
        int calls;
        EXPECT(start(&r, filch_now() + FILCH_US(100), FILCH_US(50)) == 0);
        EXPECT(filch_ticker_start(&r.ticker, 0, 1, tick, &r) == -EBUSY);
        await_calls(&r, 20);
        EXPECT(filch_ticker_stop(&r.ticker) == 1);
        EXPECT(atomic_load(&r.inside) == 0 && atomic_load(&r.wrong) == 0);
        calls = atomic_load(&r.calls);
        EXPECT(filch_ticker_stop(&r.ticker) == 0);
        EXPECT(filch_sleep(FILCH_US(200)) == 0);
        EXPECT(atomic_load(&r.calls) == calls);
    }
    return 0;
}
EVERYWHERE(ticks)

/* A first time in the past, and periods of 1 ns, the whole future and more than that. */
static int extreme_times(void)
{
    const int64_t firsts[] = {0, INT64_MIN, 1};
    const int64_t periods[] = {1, INT64_MAX - 5, INT64_MAX};

    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            record r = {.ticker = FILCH_TICKER_INIT, .period = INT64_MAX};
            EXPECT(filch_ticker_start(&r.ticker, firsts[i], periods[k], tick, &r) == 0);
            await_calls(&r, 1);
            EXPECT(filch_ticker_stop(&r.ticker) == 1);
            EXPECT(periods[k] == 1 || firsts[i] < 0 || atomic_load(&r.calls) == 1);
        }
    }
    return 0;
}
EVERYWHERE(extreme_times)

/* Ticks that pass during a call are skipped, not made up for. */
typedef struct blocked_call {
    filch_ticker ticker;
    filch_event begun, may_return;
    atomic_int calls;
    int64_t returned_at, second_at;
} blocked_call;

static void block_once(void *arg)
{
    blocked_call *c = arg;
    int n = atomic_load(&c->calls);

    if (n == 0) {
        filch_event_set(&c->begun);
        filch_event_wait(&c->may_return);
        c->returned_at = filch_now();
    } else if (n == 1) {
        c->second_at = filch_now();
    }
    atomic_fetch_add(&c->calls, 1);
}

static int missed_ticks_are_skipped(void)
{
    const int64_t period = FILCH_MS(1);
    blocked_call c = {.calls = 0};
    int64_t first = filch_now();
    int calls;

    EXPECT(filch_ticker_start(&c.ticker, first, period, block_once, &c) == 0);
    EXPECT(filch_event_wait(&c.begun) == 0);
    EXPECT(filch_sleep_until(first + 20 * period) == 0);
    EXPECT(atomic_load(&c.calls) == 0);
    filch_event_set(&c.may_return);
    while (atomic_load(&c.calls) < 2)
        filch_yield();
    EXPECT(filch_ticker_stop(&c.ticker) == 1);
    calls = atomic_load(&c.calls);
    EXPECT((c.second_at - first) / period > (c.returned_at - first) / period);
    EXPECT(calls <= 2 + (filch_now() - c.second_at) / period + 1);
    return 0;
}
EVERYWHERE(missed_ticks_are_skipped)

/* ---- stop ---- */

static int never_started(void)
{
    filch_ticker t = FILCH_TICKER_INIT, zeros;

    memset(&zeros, 0, sizeof zeros);
    EXPECT(filch_ticker_stop(&t) == 0 && filch_ticker_stop(&t) == 0);
    EXPECT(filch_ticker_stop(&zeros) == 0);
    return 0;
}
EVERYWHERE(never_started)

static int stop_blocked(void *arg)
{
    blocked_call *c = arg;
    int was_started = filch_ticker_stop(&c->ticker);

    return 10 * atomic_load(&c->calls) + was_started;
}

static void *stop_in_fiber(void *arg)
{
    return (void *)(intptr_t)stop_blocked(arg);
}

/* Also the second stop waits, in a thread. */
static int stop_waits_for_the_call(void)
{
    blocked_call c = {.calls = 0};
    filch_fiber *f;
    async_call p;

    EXPECT(filch_ticker_start(&c.ticker, 0, FILCH_US(10), block_once, &c) == 0);
    EXPECT(filch_event_wait(&c.begun) == 0);
    f = filch_fiber_start(stop_in_fiber, &c);
    await_parked(f, "ticker");
    filch_fiber_cancel(f);
    async_call_start_thread(&p, stop_blocked, &c);
    await_parked(f, "ticker");
    EXPECT(filch_ticker_start(&c.ticker, 0, 1, block_once, &c) == -EBUSY);
    filch_event_set(&c.may_return);
    EXPECT(join(f) == 11 && async_call_join(&p) == 10);
    return 0;
}
EVERYWHERE(stop_waits_for_the_call)

static int stops_itself(void)
{
    for (int i = 1; i <= 5; i++) {
        record r = {.stop_at = i, .stopped = -1};
        EXPECT(start(&r, filch_now(), FILCH_US(20)) == 0);
        while (atomic_load(&r.stopped) < 0)
            filch_yield();
        EXPECT(filch_ticker_stop(&r.ticker) == 0); /* waits for the last call */
        EXPECT(atomic_load(&r.stopped) == 1 && atomic_load(&r.calls) == i &&
               atomic_load(&r.wrong) == 0);
    }
    return 0;
}
EVERYWHERE(stops_itself)

static int stop_ticker(void *t)
{
    return filch_ticker_stop(t);
}

/* Places in the timer heaps that tickers hold. */
static unsigned n_reserved(void)
{
    fi_runtime *rt = fi_runtime_lock_running();
    unsigned n = 0;

    for (unsigned i = 0; i < rt->n_workers; i++) {
        fi_timer_heap *heap = &rt->workers[i].timers;
        fi_lock_lock(&heap->lock);
        n += heap->reserved;
        fi_lock_unlock(&heap->lock);
    }
    fi_runtime_unlock_running();
    return n;
}

/* Two stops at random moments: one of them finds the ticker started.  Then the memory is freed. */
static int stop_races(void)
{
    for (int i = 0; i < SCALED(250); i++) {
        record *r = calloc(1, sizeof *r);
        async_call p;
        int stopped;
        EXPECT(r != NULL);
        for (int round = 0; round < 2; round++) {
            EXPECT(start(r, filch_now() + FILCH_US(i % 20), 1 + i * 7 % 5000) == 0);
            async_call_start(&p, stop_ticker, &r->ticker);
            if (i % 4 == 0)
                filch_sleep(FILCH_US(i % 30));
            stopped = filch_ticker_stop(&r->ticker);
            EXPECT(stopped + async_call_join(&p) == 1);
            EXPECT(atomic_load(&r->inside) == 0);
        }
        free(r);
    }
    EXPECT(n_reserved() == 0);
    return 0;
}
EVERYWHERE(stop_races)

/* ---- the runtime ---- */

/* filch_stop() waits for a call, not for the ticker, which may be started again.  After the last
 * call no timer fires, even if its deadline passes while the workers stop. */
static void test_runtime_stops(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof workers_counts / sizeof *workers_counts; i++) {
        record r = {.yields = 3}, pending = {.yields = 0};
        size_t before = fi_mem_live().blocks;
        for (int round = 0; round < SCALED(50); round++) {
            CHECK_INT(filch_start(&(filch_config){.workers = workers_counts[i]}), 0);
            CHECK_INT(start(&r, filch_now(), FILCH_US(30)), 0);
            CHECK_INT(start(&pending, FILCH_FOREVER, 1), 0);
            await_calls(&r, 2 * (round + 1));
            CHECK_INT(filch_stop(), 0);
            CHECK_INT(atomic_load(&r.inside), 0);
            CHECK_INT(fi_mem_live().blocks, before);
        }
        CHECK_INT(filch_ticker_stop(&r.ticker), 1);
        CHECK_INT(filch_ticker_stop(&r.ticker), 0);
        CHECK_INT(filch_start(NULL), 0);
        CHECK_INT(filch_ticker_stop(&pending.ticker), 1);
        CHECK_INT(filch_stop(), 0);
        CHECK_INT(atomic_load(&pending.calls), 0);
    }
}

/* ---- wrong arguments ---- */

static char message[256];

static void keep_message(filch_level level, const char *text, void *ctx)
{
    (void)level;
    (void)ctx;
    snprintf(message, sizeof message, "%s", text);
}

static void test_wrong_period(void **state)
{
    const int64_t wrong[] = {0, -1, INT64_MIN};
    filch_ticker t = FILCH_TICKER_INIT;

    (void)state;
    filch_set_message_handler(keep_message, NULL);
    for (int i = 0; i < 3; i++) {
        message[0] = 0;
        CHECK_INT(filch_ticker_start(&t, 0, wrong[i], tick, NULL), -EINVAL);
        CHECK(strstr(message, "filch_ticker_start: the period is not positive ("));
    }
    filch_set_message_handler(NULL, NULL);
    CHECK_INT(filch_ticker_stop(&t), 0);
    CHECK_INT(filch_worker_count(), 0);
}

CHECK_MAIN(test_ticks, test_extreme_times, test_missed_ticks_are_skipped, test_never_started,
           test_stop_waits_for_the_call, test_stops_itself, test_stop_races, test_runtime_stops,
           test_wrong_period)
