/* Fibers are started, joined, cancelled and detached at random times, and timers are started and
 * stopped while they fire.  All fibers end, and each function is called the right number of times.
 * FILCH_SEED=… repeats the random choices of a run, but not its interleaving. */
#include "unit/sync/helpers.h"

#include "base/rng.h"
#include "seed.h"

#include <filch/fiber.h>
#include <filch/time.h>

static fi_rng rng;
static atomic_int broken; /* line of the first failed check */

#define MUST(condition)                                                                            \
    do {                                                                                           \
        int none = 0;                                                                              \
        if (!(condition))                                                                          \
            atomic_compare_exchange_strong(&broken, &none, __LINE__);                              \
    } while (0)

static void random_delay(fi_rng *r)
{
    switch (fi_rng_below(r, 4)) {
    case 0:
        filch_yield();
        break;
    case 1:
        filch_sleep(FILCH_US(fi_rng_below(r, 40)));
        break;
    default:
        break;
    }
}

/* ---- fibers ---- */

enum { ACTORS = 12 };

static atomic_long begun, ended;

/* A fiber returns at once, sleeps, sleeps until it is cancelled, or joins a fiber that it
 * starts. */
static void *fiber_main(void *seed)
{
    fi_rng r;
    filch_fiber *child;
    int e = 0;

    atomic_fetch_add(&begun, 1);
    fi_rng_seed(&r, (uint64_t)(uintptr_t)seed);
    switch (fi_rng_below(&r, 4)) {
    case 0:
        break;
    case 1:
        e = filch_sleep(FILCH_US(fi_rng_below(&r, 100)));
        break;
    case 2:
        e = filch_sleep(FILCH_MS(1 + fi_rng_below(&r, 3)));
        break;
    default:
        child = filch_fiber_start(fiber_main, (void *)(uintptr_t)(fi_rng_next(&r) | 1));
        if (!child)
            break;
        filch_fiber_cancel(child);
        while ((e = filch_fiber_join(child, NULL)) == -ECANCELED)
            filch_fiber_uncancel();
        MUST(e == 0);
    }
    MUST(e == 0 || e == -ECANCELED);
    MUST(e == 0 || filch_fiber_is_cancelled() || filch_fiber_uncancel() == false);
    atomic_fetch_add(&ended, 1);
    return seed;
}

/* Returns true if the fiber was joined. */
static bool join_somehow(fi_rng *r, filch_fiber *f, void *seed)
{
    void *result = NULL;
    int e = fi_rng_below(r, 2)
                ? filch_fiber_join(f, &result)
                : filch_fiber_join_until(f, &result, filch_now() + fi_rng_below(r, 50000));

    MUST(e == 0 || e == -ETIMEDOUT || e == -ECANCELED);
    MUST(e != 0 || result == seed);
    if (e == -ECANCELED)
        filch_fiber_uncancel();
    return e == 0;
}

static void use_one_fiber(fi_rng *r)
{
    void *seed = (void *)(uintptr_t)(fi_rng_next(r) | 1);
    filch_fiber *f = filch_fiber_start(fiber_main, seed);

    MUST(f != NULL);
    for (bool is_ours = f != NULL; is_ours;) {
        random_delay(r);
        if (fi_rng_below(r, 2))
            filch_fiber_cancel(f);
        if (fi_rng_below(r, 4) == 0)
            filch_fiber_detach(f), is_ours = false;
        else
            is_ours = !join_somehow(r, f, seed);
    }
}

typedef struct caller {
    async_call async_call;
    fi_rng rng;
} caller;

static caller actors[ACTORS];

static int call_fibers(void *arg)
{
    caller *a = arg;

    for (int i = 0; i < SCALED(400); i++)
        use_one_fiber(&a->rng);
    return 0;
}

/* Half of the callers are threads.  Fibers are also cancelled by other callers. */
static void run_callers(int (*body)(void *arg))
{
    atomic_store(&broken, 0);
    for (int i = 0; i < ACTORS; i++) {
        fi_rng_seed(&actors[i].rng, fi_rng_next(&rng));
        if (i % 2)
            async_call_start_thread(&actors[i].async_call, body, &actors[i]);
        else
            async_call_start(&actors[i].async_call, body, &actors[i]);
    }
    for (bool any = true; any;) {
        any = false;
        for (int i = 0; i < ACTORS; i++)
            any |= !atomic_load(&actors[i].async_call.is_over);
        filch_fiber_cancel(actors[(size_t)fi_rng_below(&rng, ACTORS / 2) * 2].async_call.fiber);
        filch_yield();
    }
    for (int i = 0; i < ACTORS; i++)
        async_call_join(&actors[i].async_call);
    CHECK_INT(atomic_load(&broken), 0);
}

static void fibers(void)
{
    atomic_store(&begun, 0);
    atomic_store(&ended, 0);
    run_callers(call_fibers);
    while (atomic_load(&ended) < atomic_load(&begun))
        filch_yield();
}

/* ---- timers ---- */

typedef struct test_timer {
    filch_timer timer;
    atomic_int rung;
    bool stops_itself;
} test_timer;

static void count_firing(void *arg)
{
    test_timer *c = arg;

    if (c->stops_itself)
        MUST(filch_timer_stop(&c->timer) == 0);
    atomic_fetch_add(&c->rung, 1);
}

static void use_one_timer(fi_rng *r, test_timer *c)
{
    int stopped;

    atomic_store(&c->rung, 0);
    c->stops_itself = fi_rng_below(r, 3) == 0;
    MUST(filch_timer_start(&c->timer, filch_now() + FILCH_US(fi_rng_below(r, 60)), count_firing,
                           c) == 0);
    random_delay(r);
    filch_fiber_uncancel();
    if (fi_rng_below(r, 4) == 0)
        while (!atomic_load(&c->rung))
            filch_yield();
    stopped = filch_timer_stop(&c->timer);
    if (!stopped)
        while (!atomic_load(&c->rung))
            filch_yield();
    MUST(atomic_load(&c->rung) == !stopped);
}

static int call_timers(void *arg)
{
    caller *a = arg;
    test_timer c = {.timer = FILCH_TIMER_INIT};

    for (int i = 0; i < SCALED(1000); i++)
        use_one_timer(&a->rng, &c);
    return 0;
}

static void timers(void)
{
    run_callers(call_timers);
}

/* ---- one timer, started and stopped by all callers at once ---- */

static filch_timer shared;
static atomic_int starts, stops, fired;

static void start_shared(int64_t in_ns);

static void fire_shared(void *again)
{
    atomic_fetch_add(&fired, 1);
    if (again)
        start_shared(FILCH_US(5));
}

static void start_shared(int64_t in_ns)
{
    int n = atomic_fetch_add(&starts, 1);

    MUST(filch_timer_start(&shared, filch_now() + in_ns, fire_shared,
                           n % 16 == 0 ? &shared : NULL) == 0);
}

static int call_shared_timer(void *arg)
{
    caller *a = arg;

    for (int i = 0; i < SCALED(1000); i++) {
        if (fi_rng_below(&a->rng, 3) > 0)
            start_shared(FILCH_US(fi_rng_below(&a->rng, 60)));
        else
            atomic_fetch_add(&stops, filch_timer_stop(&shared));
        random_delay(&a->rng);
        filch_fiber_uncancel();
    }
    return 0;
}

/* Each start is fired, stopped or replaced.  In the end the timer works as a new one. */
static void shared_timer(void)
{
    int64_t deadline = filch_now() + FILCH_S(1000);

    atomic_store(&starts, 0);
    atomic_store(&stops, 0);
    atomic_store(&fired, 0);
    run_callers(call_shared_timer);
    MUST(filch_timer_start(&shared, deadline, fire_shared, NULL) == 0);
    filch_stop(); /* waits for functions of fired timers, which may start it again */
    filch_timer_stop(&shared);
    CHECK_INT(atomic_load(&broken), 0);
    CHECK(atomic_load(&fired) + atomic_load(&stops) <= atomic_load(&starts));
    atomic_store(&fired, 0);
    MUST(filch_timer_start(&shared, 0, fire_shared, NULL) == 0);
    while (!atomic_load(&fired))
        filch_yield();
    MUST(filch_timer_stop(&shared) == 0);
    CHECK_INT(atomic_load(&fired), 1);
    CHECK_INT(atomic_load(&broken), 0);
}

/* ---- all tests ---- */

#define STRESS(name)                                                                               \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        fi_rng_seed(&rng, seed_get());                                                             \
        workers_each(NULL, name);                                                                  \
    }

STRESS(fibers)
STRESS(timers)
STRESS(shared_timer)

CHECK_MAIN(test_fibers, test_timers, test_shared_timer)
