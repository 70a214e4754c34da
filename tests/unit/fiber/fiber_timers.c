/* Timers: firing, stop, restart, and their races.  filch_sleep.  EVERYWHERE runs a case
 * in a thread, in a fiber and in a task, with 1, 2, 4 and 8 workers. */
#include "unit/fiber/helpers.h"

static atomic_int calls, early;

/* ---- firing and stopping ---- */

static void count_call(void *deadline)
{
    if (deadline && filch_now() < *(int64_t *)deadline)
        atomic_fetch_add(&early, 1);
    atomic_fetch_add(&calls, 1);
}

static int fires(void)
{
    enum { N = 50 };
    filch_timer t[N] = {FILCH_TIMER_INIT};
    int64_t deadline[N];

    atomic_store(&calls, 0);
    atomic_store(&early, 0);
    for (int i = 0; i < N; i++) {
        deadline[i] = filch_now() + FILCH_US(50 * (i * 7 % N));
        EXPECT(filch_timer_start(&t[i], deadline[i], count_call, &deadline[i]) == 0);
    }
    await_count(&calls, N);
    for (int i = 0; i < N; i++)
        EXPECT(filch_timer_stop(&t[i]) == 0);
    EXPECT(atomic_load(&calls) == N && atomic_load(&early) == 0);
    return 0;
}

static int fires_at_once(void)
{
    filch_timer t = FILCH_TIMER_INIT;

    atomic_store(&calls, 0);
    EXPECT(filch_timer_start(&t, 0, count_call, NULL) == 0);
    await_count(&calls, 1);
    EXPECT(filch_timer_stop(&t) == 0);
    EXPECT(filch_timer_stop(&t) == 0);
    EXPECT(filch_timer_start(&t, INT64_MIN, count_call, NULL) == 0);
    await_count(&calls, 2);
    EXPECT(filch_timer_stop(&t) == 0);
    return 0;
}

/* A stopped timer does not fire, while timers with later deadlines do. */
static int is_stopped(void)
{
    int64_t soon = filch_now() + FILCH_MS(20);
    filch_timer t = FILCH_TIMER_INIT, never = FILCH_TIMER_INIT, later = FILCH_TIMER_INIT;

    atomic_store(&calls, 0);
    EXPECT(filch_timer_start(&never, FILCH_FOREVER, count_call, NULL) == 0);
    EXPECT(filch_timer_start(&t, filch_now() + FILCH_S(100), count_call, NULL) == 0);
    EXPECT(filch_timer_stop(&t) == 1);
    EXPECT(filch_timer_stop(&t) == 0);
    EXPECT(filch_timer_start(&t, soon, count_call, NULL) == 0);
    if (filch_timer_stop(&t) == 0)
        await_count(&calls, 1), atomic_store(&calls, 0); /* on a slow machine it has fired */
    EXPECT(filch_timer_start(&later, soon + 1, count_call, NULL) == 0);
    EXPECT(filch_sleep_until(soon + FILCH_MS(1)) == 0);
    await_count(&calls, 1);
    EXPECT(filch_timer_stop(&later) == 0 && filch_timer_stop(&never) == 1);
    EXPECT(atomic_load(&calls) == 1);
    return 0;
}

/* ---- restart while pending ---- */

static atomic_int old_calls;

static void count_old_call(void *arg)
{
    (void)arg;
    atomic_fetch_add(&old_calls, 1);
}

/* The last deadline and function apply, whether the deadline is earlier or later. */
static int is_restarted(void)
{
    int64_t far = filch_now() + FILCH_S(1000);
    filch_timer t = FILCH_TIMER_INIT;

    atomic_store(&calls, 0);
    atomic_store(&old_calls, 0);
    for (int i = 0; i < 200; i++)
        EXPECT(filch_timer_start(&t, far + (i % 7 - 3) * FILCH_S(1), count_old_call, NULL) == 0);
    EXPECT(filch_timer_start(&t, filch_now() + FILCH_US(100), count_call, NULL) == 0);
    await_count(&calls, 1);
    EXPECT(filch_timer_stop(&t) == 0);
    EXPECT(filch_timer_start(&t, far, count_old_call, NULL) == 0);
    EXPECT(filch_timer_start(&t, far + 1, count_old_call, NULL) == 0);
    EXPECT(filch_timer_stop(&t) == 1);
    EXPECT(filch_timer_stop(&t) == 0);
    EXPECT(atomic_load(&calls) == 1 && atomic_load(&old_calls) == 0);
    return 0;
}

/* A restart while the timer fires: both functions are called, or only the later one. */
static int restart_races(void)
{
    atomic_store(&old_calls, 0);
    for (int i = 0; i < SCALED(1000); i++) {
        filch_timer t = FILCH_TIMER_INIT;
        atomic_store(&calls, 0);
        EXPECT(filch_timer_start(&t, filch_now() + FILCH_US(i % 60), count_old_call, NULL) == 0);
        if (i % 4 == 0)
            filch_sleep(FILCH_US(i % 50));
        EXPECT(filch_timer_start(&t, filch_now() + FILCH_US(i % 3), count_call, NULL) == 0);
        await_count(&calls, 1);
        EXPECT(filch_timer_stop(&t) == 0);
        EXPECT(atomic_load(&old_calls) <= i + 1); /* a call of an earlier round may run late */
    }
    return 0;
}

static int never_started(void)
{
    filch_timer t = FILCH_TIMER_INIT;

    EXPECT(filch_timer_stop(&t) == 0);
    EXPECT(filch_timer_stop(&t) == 0);
    return 0;
}

/* A timer that was pending in one runtime may be started in the next. */
static void test_restart_in_the_next_runtime(void **state)
{
    filch_timer t = FILCH_TIMER_INIT;

    (void)state;
    atomic_store(&calls, 0);
    atomic_store(&old_calls, 0);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(filch_start(NULL), 0);
        CHECK_INT(filch_timer_start(&t, filch_now() + FILCH_S(1000), count_old_call, NULL), 0);
        CHECK_INT(filch_stop(), 0);
    }
    CHECK_INT(filch_timer_start(&t, filch_now(), count_call, NULL), 0);
    await_count(&calls, 1);
    CHECK_INT(filch_timer_stop(&t), 0);
    CHECK_INT(atomic_load(&old_calls), 0);
    CHECK_INT(filch_stop(), 0);
}

/* ---- a timer that stops or restarts itself ---- */

typedef struct periodic_timer {
    filch_timer timer;
    int ticks;
    atomic_int result; /* -1: not called yet */
} periodic_timer;

static void stop_self(void *arg)
{
    periodic_timer *c = arg;

    atomic_store(&c->result, filch_timer_stop(&c->timer));
}

static void tick(void *arg)
{
    periodic_timer *c = arg;

    if (filch_timer_stop(&c->timer) != 0)
        atomic_store(&c->result, __LINE__);
    else if (--c->ticks == 0)
        atomic_store(&c->result, 0);
    else if (filch_timer_start(&c->timer, filch_now() + FILCH_US(c->ticks % 20), tick, c) != 0)
        atomic_store(&c->result, __LINE__);
}

/* Restart without a stop: the timer may still be firing. */
static void tick_again(void *arg)
{
    periodic_timer *c = arg;

    if (--c->ticks == 0)
        atomic_store(&c->result, 0);
    else if (filch_timer_start(&c->timer, filch_now() + FILCH_US(c->ticks % 3), tick_again, c) != 0)
        atomic_store(&c->result, __LINE__);
}

static int starts_itself(void)
{
    periodic_timer c = {.ticks = SCALED(2000)};

    atomic_store(&c.result, -1);
    EXPECT(filch_timer_start(&c.timer, filch_now(), tick_again, &c) == 0);
    while (atomic_load(&c.result) == -1)
        filch_yield();
    EXPECT(atomic_load(&c.result) == 0 && filch_timer_stop(&c.timer) == 0);
    return 0;
}

static int stops_and_restarts_itself(void)
{
    periodic_timer c = {.ticks = 100};

    atomic_store(&c.result, -1);
    EXPECT(filch_timer_start(&c.timer, filch_now(), stop_self, &c) == 0);
    await_count(&c.result, 0);
    atomic_store(&c.result, -1);
    EXPECT(filch_timer_start(&c.timer, filch_now(), tick, &c) == 0);
    while (atomic_load(&c.result) == -1)
        filch_yield();
    EXPECT(atomic_load(&c.result) == 0);
    return 0;
}

/* The function of a timer runs on a fiber and may wait. */
static void sleep_and_count(void *arg)
{
    if (filch_sleep(FILCH_US(100)) == 0 && filch_fiber_self())
        count_call(arg);
}

static int may_wait(void)
{
    enum { N = 20 };
    filch_timer t[N] = {FILCH_TIMER_INIT};

    atomic_store(&calls, 0);
    for (int i = 0; i < N; i++)
        EXPECT(filch_timer_start(&t[i], filch_now() + FILCH_US(10), sleep_and_count, NULL) == 0);
    await_count(&calls, N);
    for (int i = 0; i < N; i++)
        EXPECT(filch_timer_stop(&t[i]) == 0);
    return 0;
}

/* ---- stop while it fires ---- */

typedef struct race {
    filch_timer timer;
    atomic_int called;
} race;

static void record_call(void *arg)
{
    atomic_store(&((race *)arg)->called, 1);
}

static int stop_in_fiber(void *arg)
{
    return filch_timer_stop(&((race *)arg)->timer);
}

/* Either a stop succeeds or the function is called.  Of two stops, at most one succeeds. */
static int stop_races(void)
{
    for (int i = 0; i < SCALED(1000); i++) {
        race r = {.called = 0};
        async_call other;
        int stopped;

        EXPECT(filch_timer_start(&r.timer, filch_now() + FILCH_US(i % 60), record_call, &r) == 0);
        async_call_start(&other, stop_in_fiber, &r);
        if (i % 4 == 0)
            filch_sleep(FILCH_US(i % 50));
        stopped = filch_timer_stop(&r.timer);
        stopped += async_call_join(&other);
        EXPECT(stopped <= 1);
        if (stopped == 0)
            await_count(&r.called, 1);
        EXPECT(atomic_load(&r.called) == !stopped);
    }
    return 0;
}

/* ---- pending when the runtime stops ---- */

/* The pending timers never fire, and a later stop of them succeeds. */
static void test_pending_at_stop(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof workers_counts / sizeof *workers_counts; i++) {
        filch_timer t[3] = {FILCH_TIMER_INIT};
        size_t before = fi_mem_live().blocks;
        atomic_store(&calls, 0);
        CHECK_INT(filch_start(&(filch_config){.workers = workers_counts[i]}), 0);
        for (int k = 0; k < 2; k++)
            CHECK_INT(filch_timer_start(&t[k], filch_now() + FILCH_S(1000), count_call, NULL), 0);
        CHECK_INT(filch_timer_start(&t[2], 0, count_call, NULL), 0);
        await_count(&calls, 1);
        CHECK_INT(filch_stop(), 0);
        CHECK_INT(fi_mem_live().blocks, before);
        CHECK_INT(filch_timer_stop(&t[0]), 1);
        CHECK_INT(filch_timer_stop(&t[0]), 0);
        CHECK_INT(filch_timer_stop(&t[2]), 0);
        CHECK_INT(filch_start(NULL), 0);
        CHECK_INT(filch_timer_stop(&t[1]), 1);
        CHECK_INT(filch_stop(), 0);
        CHECK_INT(atomic_load(&calls), 1);
    }
}

/* A timer starts the runtime. */
static void test_starts_the_runtime(void **state)
{
    filch_timer t = FILCH_TIMER_INIT;

    (void)state;
    atomic_store(&calls, 0);
    CHECK_INT(filch_timer_start(&t, filch_now() + FILCH_US(100), count_call, NULL), 0);
    await_count(&calls, 1);
    CHECK_INT(filch_timer_stop(&t), 0);
    CHECK_INT(filch_stop(), 0);
}

/* ---- a million ---- */

static int a_million(void)
{
    const int n = SCALED(1000000);
    filch_timer *t = calloc((size_t)n, sizeof *t);
    int64_t far = filch_now() + FILCH_S(1000);

    EXPECT(t != NULL);
    atomic_store(&calls, 0);
    for (int i = 0; i < n; i++)
        EXPECT(filch_timer_start(&t[i], far + (int64_t)i * 7919 % n, count_call, NULL) == 0);
    EXPECT(fires() == 0); /* while the million are pending */
    atomic_store(&calls, 0);
    for (int i = 0; i < n; i++)
        if (i % 10 < 9)
            EXPECT(filch_timer_stop(&t[i]) == 1);
    EXPECT(fires() == 0);
    for (int i = 9; i < n / 2; i += 10)
        EXPECT(filch_timer_stop(&t[i]) == 1);
    free(t); /* the others never fire, so they are never accessed */
    return 0;
}

/* With two workers only, because it takes a second. */
static void test_a_million(void **state)
{
    size_t before = fi_mem_live().blocks;

    (void)state;
    CHECK_INT(filch_start(&(filch_config){.workers = 2}), 0);
    CHECK_INT(a_million(), 0);
    CHECK_INT(filch_stop(), 0);
    CHECK_INT(fi_mem_live().blocks, before);
}

/* ---- sleep ---- */

static int sleeps(void)
{
    int64_t before = filch_now();

    EXPECT(filch_sleep(0) == 0 && filch_sleep(-5) == 0 && filch_sleep(INT64_MIN) == 0);
    EXPECT(filch_sleep_until(0) == 0 && filch_sleep_until(INT64_MIN) == 0);
    EXPECT(filch_sleep(FILCH_US(200)) == 0);
    EXPECT(filch_now() - before >= FILCH_US(200));
    EXPECT(filch_sleep_until(before + FILCH_MS(2)) == 0);
    EXPECT(filch_now() >= before + FILCH_MS(2));
    return 0;
}

static void *sleep_some(void *us)
{
    int64_t until = filch_now() + FILCH_US((intptr_t)us);

    return (void *)(intptr_t)(filch_sleep(FILCH_US((intptr_t)us)) != 0 || filch_now() < until);
}

static int many_sleep(void)
{
    enum { N = 3000 };
    static filch_fiber *f[N];

    for (intptr_t i = 0; i < SCALED(N); i++)
        EXPECT((f[i] = filch_fiber_start(sleep_some, (void *)(i * 7919 % 3000))) != NULL);
    for (int i = 0; i < SCALED(N); i++)
        EXPECT(join(f[i]) == 0);
    return 0;
}

EVERYWHERE(fires)
EVERYWHERE(fires_at_once)
EVERYWHERE(is_stopped)
EVERYWHERE(is_restarted)
EVERYWHERE(restart_races)
EVERYWHERE(never_started)
EVERYWHERE(starts_itself)
EVERYWHERE(stops_and_restarts_itself)
EVERYWHERE(may_wait)
EVERYWHERE(stop_races)
EVERYWHERE(sleeps)
EVERYWHERE(many_sleep)

CHECK_MAIN(test_fires, test_fires_at_once, test_is_stopped, test_is_restarted, test_restart_races,
           test_never_started, test_restart_in_the_next_runtime, test_starts_itself,
           test_stops_and_restarts_itself, test_may_wait, test_stop_races, test_pending_at_stop,
           test_starts_the_runtime, test_a_million, test_sleeps, test_many_sleep)
