/* The clocks are monotonic, and the conversion between them is right for made-up readings.  No test
 * depends on the speed or load of the machine. */
#include "base/clock.h"
#include "base/rng.h"
#include "check.h"

#include <pthread.h>

static void test_now_is_monotonic(void **state)
{
    int64_t last = fi_clock_now();

    (void)state;
    CHECK(last > 0);
    for (int i = 0; i < 100000; i++) {
        int64_t now = fi_clock_now();
        CHECK(now >= last);
        last = now;
    }
}

static void test_time_left(void **state)
{
    int64_t now = fi_clock_now(), hour = INT64_C(3600000000000);

    (void)state;
    CHECK_INT(fi_clock_left(INT64_MIN), 0);
    CHECK_INT(fi_clock_left(INT64_MIN + 1), 0);
    CHECK_INT(fi_clock_left(now), 0);
    CHECK(fi_clock_left(now + hour) > 0 && fi_clock_left(now + hour) <= hour);
    CHECK(fi_clock_left(INT64_MAX - 1) > 0);
    CHECK_INT(fi_clock_left(INT64_MAX), INT64_MAX);
    CHECK_INT(fi_clock_left_ms(INT64_MIN), 0);
    CHECK_INT(fi_clock_left_ms(0), 0);
    CHECK(fi_clock_left_ms(now + hour) > 0 && fi_clock_left_ms(now + hour) <= 3600000);
    CHECK_INT(fi_clock_left_ms(INT64_MAX - 1), INT32_MAX);
    CHECK_INT(fi_clock_left_ms(INT64_MAX), -1);
}

static void test_ticks_are_monotonic(void **state)
{
    uint64_t first = fi_clock_ticks(), last = first;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        uint64_t now = fi_clock_ticks();
        CHECK(now >= last);
        last = now;
    }
    CHECK(last > first);
}

static void test_source(void **state)
{
    static const char *const names[] = {"", "CLOCK_MONOTONIC", "TSC", "CNTVCT"};
    fi_clock_kind kind = fi_clock_source();

    (void)state;
    CHECK(kind >= FI_CLOCK_MONOTONIC && kind <= FI_CLOCK_CNTVCT);
    CHECK_INT(fi_clock_source(), kind);
    printf("ticks come from %s, 1000000 ticks are %lld ns\n", names[kind],
           (long long)fi_clock_ticks_to_ns(1000000));
#if defined __aarch64__
    CHECK_INT(kind, FI_CLOCK_CNTVCT);
#endif
    if (kind == FI_CLOCK_MONOTONIC)
        CHECK_INT(fi_clock_ticks_to_ns(12345), 12345);
}

/* Converted ticks lie between CLOCK_MONOTONIC directly before and after, within 1 %.  Both clocks
 * see an interruption of the thread. */
static void test_ticks_and_now_agree(void **state)
{
    (void)state;
    int64_t outer_from = fi_clock_now();
    uint64_t ticks_from = fi_clock_ticks();
    int64_t inner_from = fi_clock_now();
    int64_t inner_to = inner_from;
    while (inner_to - inner_from < 20000000)
        inner_to = fi_clock_now();
    uint64_t ticks_to = fi_clock_ticks();
    int64_t outer_to = fi_clock_now();

    int64_t ns = fi_clock_ticks_to_ns(ticks_to - ticks_from);
    CHECK(ns >= (inner_to - inner_from) / 100 * 99);
    CHECK(ns <= (outer_to - outer_from) / 100 * 101);
}

static uint64_t measured(int64_t ns, uint64_t ticks)
{
    fi_clock_reading a = {1000, 5000}, b = {1000 + ns, 5000 + ticks};

    return fi_clock_scale_measured(a, b);
}

static void test_scale_of_made_up_readings(void **state)
{
    const uint64_t one = (uint64_t)1 << 32;

    (void)state;
    CHECK_INT(measured(2000000, 2000000), one);
    CHECK_INT(measured(2000000, 4000000), one / 2);
    CHECK_INT(measured(2000000, 48000), 178956970667); /* 24 MHz */
    CHECK_INT(measured(2000000, 5586970), 1537494311); /* 2793.485 MHz */
    CHECK_INT(measured(1, 1), one);
    CHECK_INT(measured(INT64_MAX - 1000, INT64_MAX - 1000), one); /* no overflow in between */
}

static void test_scale_of_bad_readings(void **state)
{
    fi_clock_reading a = {1000, 5000};
    fi_clock_reading no_time = {1000, 6000}, no_ticks = {2000, 5000};
    fi_clock_reading back = {500, 6000}, ticks_back = {2000, 4000};
    fi_clock_reading standing = {INT64_MAX, 5001}, far_back = {500, UINT64_MAX};

    (void)state;
    CHECK_INT(fi_clock_scale_measured(a, no_time), 0);
    CHECK_INT(fi_clock_scale_measured(a, no_ticks), 0);
    CHECK_INT(fi_clock_scale_measured(a, back), 0);
    CHECK_INT(fi_clock_scale_measured(a, ticks_back), 0);
    CHECK_INT(fi_clock_scale_measured(a, standing), 0);
    CHECK_INT(fi_clock_scale_measured(a, far_back), 0);
}

static void test_scale_of_hz(void **state)
{
    (void)state;
    CHECK_INT(fi_clock_scale_of(1000000000), (uint64_t)1 << 32);
    CHECK_INT(fi_clock_scale_of(2000000000), (uint64_t)1 << 31);
    CHECK_INT(fi_clock_scale_of(24000000), 178956970667);
    CHECK_INT(fi_clock_scale_of(1), ((uint64_t)1 << 32) * 1000000000);
    CHECK_INT(fi_clock_scale_of(0), 0);
}

/* The stated frequency is used if the measured one agrees within 0.1 %. */
static void test_choice_between_stated_and_measured(void **state)
{
    const uint64_t real = fi_clock_scale_of(2793485000);

    (void)state;
    CHECK_INT(fi_clock_scale_choose(real, real + real / 5000), real);
    CHECK_INT(fi_clock_scale_choose(real, real - real / 5000), real);
    CHECK_INT(fi_clock_scale_choose(fi_clock_scale_of(2800000000), real), real); /* 0.23 % off */
    CHECK_INT(fi_clock_scale_choose(fi_clock_scale_of(24000000), real), real);
    CHECK_INT(fi_clock_scale_choose(0, real), real);
    CHECK_INT(fi_clock_scale_choose(real, 0), real);
    CHECK_INT(fi_clock_scale_choose(0, 0), (uint64_t)1 << 32);
}

static void test_conversion(void **state)
{
    const uint64_t ghz = (uint64_t)1 << 32;

    (void)state;
    CHECK_INT(fi_clock_scale_to_ns(0, ghz), 0);
    CHECK_INT(fi_clock_scale_to_ns(1000, ghz), 1000);
    CHECK_INT(fi_clock_scale_to_ns(3000, fi_clock_scale_of(3000000000)), 1000);
    CHECK_INT(fi_clock_scale_to_ns(24000000, fi_clock_scale_of(24000000)), 1000000000);
    CHECK_INT(fi_clock_scale_to_ns(UINT64_MAX, ghz), INT64_MAX);
    CHECK_INT(fi_clock_scale_to_ns(INT64_MAX, ghz), INT64_MAX);
    CHECK_INT(fi_clock_scale_to_ticks(1000, fi_clock_scale_of(3000000000)), 3000);
    CHECK_INT(fi_clock_scale_to_ticks(0, ghz), 0);
    CHECK_INT(fi_clock_scale_to_ticks(-5, ghz), 0);
    CHECK(fi_clock_scale_to_ticks(INT64_MAX, ghz / 1000) == UINT64_MAX);
    /* A year of a 3 GHz counter is exact to 10 ms. */
    const int64_t year = (int64_t)365 * 86400 * 1000000000;
    int64_t off = fi_clock_scale_to_ns((uint64_t)year * 3, fi_clock_scale_of(3000000000)) - year;
    CHECK(off < 10000000 && off > -10000000);
}

/* ns -> ticks -> ns: equal, or within one tick of a slow counter. */
static void test_round_trip(void **state)
{
    static const uint64_t hz[] = {1000000, 24000000, 1000000000, 2793485000, 5000000000};
    fi_rng r;

    (void)state;
    fi_rng_seed(&r, 1);
    for (size_t i = 0; i < sizeof hz / sizeof hz[0]; i++)
        for (int j = 0; j < 10000; j++) {
            uint64_t scale = fi_clock_scale_of(hz[i]);
            int64_t ns = (int64_t)(fi_rng_next(&r) >> (20 + j % 40));
            int64_t back = fi_clock_scale_to_ns(fi_clock_scale_to_ticks(ns, scale), scale);
            int64_t tick = hz[i] > 1000000000 ? 0 : (int64_t)(1000000000 / hz[i]);
            CHECK(back >= ns - tick);
            CHECK(back <= ns + tick);
        }
}

static void *convert(void *arg)
{
    int64_t *ns = arg;

    *ns = fi_clock_ticks_to_ns(1000000000);
    return NULL;
}

/* Runs first, before the calibration: all threads start at once and must get the same scale. */
static void test_calibrated_once(void **state)
{
    enum { THREADS = 4 };
    pthread_t thread[THREADS];
    int64_t ns[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&thread[i], NULL, convert, &ns[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    CHECK(ns[0] > 0);
    for (int i = 1; i < THREADS; i++)
        CHECK_INT(ns[i], ns[0]);
    CHECK_INT(fi_clock_ticks_to_ns(1000000000), ns[0]);
    CHECK(fi_clock_ns_to_ticks(1000000) > 0);
}

CHECK_MAIN(test_calibrated_once, test_now_is_monotonic, test_time_left, test_ticks_are_monotonic,
           test_source, test_ticks_and_now_agree, test_scale_of_made_up_readings,
           test_scale_of_bad_readings, test_scale_of_hz, test_choice_between_stated_and_measured,
           test_conversion, test_round_trip)
