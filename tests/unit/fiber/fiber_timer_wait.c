/* filch_timer_restart, and filch_timer_stop_wait, which waits for all calls of a timer. */
#include "unit/fiber/helpers.h"

static atomic_int calls;

static void count_call(void *arg)
{
    (void)arg;
    atomic_fetch_add(&calls, 1);
}

/* ---- restart ---- */

static int restart_keeps_the_function(void)
{
    filch_timer t = FILCH_TIMER_INIT;
    int64_t far = filch_now() + FILCH_S(1000);

    atomic_store(&calls, 0);
    EXPECT(filch_timer_start(&t, far, count_call, NULL) == 0);
    EXPECT(filch_timer_restart(&t, far + 1) == 1);
    EXPECT(filch_timer_restart(&t, filch_now()) == 1);
    await_count(&calls, 1);
    EXPECT(filch_timer_restart(&t, filch_now()) == 0); /* after it has fired */
    await_count(&calls, 2);
    EXPECT(filch_timer_stop(&t) == 0);
    EXPECT(filch_timer_restart(&t, far) == 0); /* after a stop */
    EXPECT(filch_timer_stop(&t) == 1);
    EXPECT(filch_timer_restart(&t, 0) == 0);
    await_count(&calls, 3);
    EXPECT(filch_timer_stop_wait(&t) == 0);
    EXPECT(atomic_load(&calls) == 3);
    return 0;
}
EVERYWHERE(restart_keeps_the_function)

static char message[256];

static void keep_message(filch_level level, const char *text, void *ctx)
{
    (void)level;
    (void)ctx;
    snprintf(message, sizeof message, "%s", text);
}

static void test_restart_before_start(void **state)
{
    filch_timer t = FILCH_TIMER_INIT;

    (void)state;
    message[0] = 0;
    filch_set_message_handler(keep_message, NULL);
    CHECK_INT(filch_timer_restart(&t, 0), -EINVAL);
    filch_set_message_handler(NULL, NULL);
    CHECK(strstr(message, "filch_timer_restart: the timer was never started"));
    CHECK_INT(filch_timer_stop(&t), 0);
    CHECK_INT(filch_timer_stop_wait(&t), 0);
    CHECK_INT(filch_worker_count(), 0);
}

static void test_restart_in_the_next_runtime(void **state)
{
    filch_timer t = FILCH_TIMER_INIT;

    (void)state;
    atomic_store(&calls, 0);
    CHECK_INT(filch_timer_start(&t, FILCH_FOREVER, count_call, NULL), 0);
    CHECK_INT(filch_stop(), 0);
    CHECK_INT(filch_timer_restart(&t, FILCH_FOREVER - 1), 1);
    CHECK_INT(filch_stop(), 0);
    CHECK_INT(filch_timer_restart(&t, 0), 1);
    await_count(&calls, 1);
    CHECK_INT(filch_timer_stop_wait(&t), 0);
    CHECK_INT(filch_stop(), 0);
    CHECK_INT(filch_timer_stop_wait(&t), 0);
}

/* ---- stop and wait ---- */

/* A call that waits until it may return. */
typedef struct slow_call {
    filch_timer timer;
    filch_event begun, may_return;
    atomic_int returned;
    int from_within; /* result of filch_timer_stop_wait */
} slow_call;

static void run_slowly(void *arg)
{
    slow_call *c = arg;

    c->from_within = filch_timer_stop_wait(&c->timer);
    filch_event_set(&c->begun);
    filch_event_wait(&c->may_return);
    atomic_fetch_add(&c->returned, 1);
}

static int stop_wait(void *arg)
{
    slow_call *c = arg;
    int stopped = filch_timer_stop_wait(&c->timer);

    return stopped < 0 ? stopped : 10 * atomic_load(&c->returned) + stopped;
}

static void *stop_wait_in_fiber(void *arg)
{
    return (void *)(intptr_t)stop_wait(arg);
}

static int never_begun(void)
{
    filch_timer t = FILCH_TIMER_INIT;

    EXPECT(filch_timer_stop_wait(&t) == 0);
    EXPECT(filch_timer_start(&t, FILCH_FOREVER, count_call, NULL) == 0);
    EXPECT(filch_timer_stop_wait(&t) == 1);
    EXPECT(filch_timer_stop_wait(&t) == 0);
    return 0;
}
EVERYWHERE(never_begun)

/* In a fiber that was cancelled, and in a thread. */
static int waits_for_the_call(void)
{
    slow_call c = {.from_within = 0};
    filch_fiber *f;
    async_call p;

    EXPECT(filch_timer_start(&c.timer, 0, run_slowly, &c) == 0);
    EXPECT(filch_event_wait(&c.begun) == 0);
    EXPECT(c.from_within == -EDEADLK);
    f = filch_fiber_start(stop_wait_in_fiber, &c);
    async_call_start_thread(&p, stop_wait, &c);
    await_parked(f, "timer");
    filch_fiber_cancel(f);
    await_parked(f, "timer");
    EXPECT(!atomic_load(&p.is_over));
    filch_event_set(&c.may_return);
    EXPECT(join(f) == 10 && async_call_join(&p) == 10);
    return 0;
}
EVERYWHERE(waits_for_the_call)

/* A pending restart does not hide the call that still runs, and neither does an earlier stop. */
static int waits_for_an_earlier_call(void)
{
    for (int stop_first = 0; stop_first < 2; stop_first++) {
        slow_call c = {.from_within = 0};
        filch_fiber *f;

        EXPECT(filch_timer_start(&c.timer, 0, run_slowly, &c) == 0);
        EXPECT(filch_event_wait(&c.begun) == 0);
        EXPECT(filch_timer_restart(&c.timer, FILCH_FOREVER) == 0);
        if (stop_first)
            EXPECT(filch_timer_stop(&c.timer) == 1);
        f = filch_fiber_start(stop_wait_in_fiber, &c);
        await_parked(f, "timer");
        filch_event_set(&c.may_return);
        EXPECT(join(f) == 10 + !stop_first);
    }
    return 0;
}
EVERYWHERE(waits_for_an_earlier_call)

/* Calls of other timers are not waited for. */
static int other_timers_run(void)
{
    enum { N = 70 }; /* more than there are buckets */
    static slow_call c[N];

    memset(c, 0, sizeof c);
    for (int i = 0; i < N; i++)
        EXPECT(filch_timer_start(&c[i].timer, 0, run_slowly, &c[i]) == 0);
    for (int i = 0; i < N; i++)
        EXPECT(filch_event_wait(&c[i].begun) == 0);
    for (int i = N - 1; i >= 0; i--) {
        filch_event_set(&c[i].may_return);
        EXPECT(stop_wait(&c[i]) == 10);
    }
    return 0;
}
EVERYWHERE(other_timers_run)

/* A function that starts its timer again, until the timer is stopped. */
typedef struct self_starter {
    filch_timer timer;
    atomic_int calls;
    int is_freed;
} self_starter;

static void start_again(void *arg)
{
    self_starter *s = arg;

    if (s->is_freed || filch_timer_restart(&s->timer, filch_now()) < 0)
        abort();
    atomic_fetch_add(&s->calls, 1);
    if (atomic_load(&s->calls) % 4 == 0)
        filch_yield();
}

static int stops_a_self_starter(void)
{
    for (int i = 0; i < SCALED(50); i++) {
        self_starter *s = calloc(1, sizeof *s);
        EXPECT(s != NULL);
        EXPECT(filch_timer_start(&s->timer, 0, start_again, s) == 0);
        while (atomic_load(&s->calls) < i % 10)
            filch_yield();
        EXPECT(filch_timer_stop_wait(&s->timer) >= 0);
        s->is_freed = 1; /* a data race if a call still runs */
        free(s);
    }
    return 0;
}
EVERYWHERE(stops_a_self_starter)

/* A stop while the timer fires: afterwards the function does not run, and is not called. */
typedef struct fire_race {
    filch_timer timer;
    int calls; /* not atomic */
} fire_race;

static void count_plain(void *arg)
{
    ((fire_race *)arg)->calls++;
}

static int stop_wait_races(void)
{
    for (int i = 0; i < SCALED(400); i++) {
        fire_race r = {.calls = 0};
        int stopped;
        EXPECT(filch_timer_start(&r.timer, filch_now() + FILCH_US(i % 60), count_plain, &r) == 0);
        if (i % 4 == 0)
            filch_sleep(FILCH_US(i % 50));
        stopped = filch_timer_stop_wait(&r.timer);
        EXPECT(r.calls == !stopped);
    }
    return 0;
}
EVERYWHERE(stop_wait_races)

CHECK_MAIN(test_restart_keeps_the_function, test_restart_before_start,
           test_restart_in_the_next_runtime, test_never_begun, test_waits_for_the_call,
           test_waits_for_an_earlier_call, test_other_timers_run, test_stops_a_self_starter,
           test_stop_wait_races)
