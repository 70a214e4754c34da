/* Statistics of numbers with known results. */
#include "check.h"
#include "lab/statistics.h"

#include <math.h>

#define NUMBERS(...)                                                                               \
    ((lab_numbers){(const double[]){__VA_ARGS__},                                                  \
                   (int)(sizeof(const double[]){__VA_ARGS__} / sizeof(double))})

static const lab_numbers none = {NULL, 0};

static void check_near(double a, double b)
{
    if (!(fabs(a - b) < 1e-6))
        fprintf(stderr, "%.9f is not %.9f\n", a, b);
    CHECK(fabs(a - b) < 1e-6);
}

static void quantiles(void **state)
{
    (void)state;
    check_near(statistics_median(NUMBERS(3, 1, 2)), 2);
    check_near(statistics_median(NUMBERS(4, 1, 2, 3)), 2.5);
    check_near(statistics_quantile(NUMBERS(1, 2, 3, 4, 5), 0.25), 2);
    check_near(statistics_quantile(NUMBERS(10, 20), 0.75), 17.5);
    check_near(statistics_quantile(NUMBERS(7), 0.1), 7);
    check_near(statistics_quantile(NUMBERS(1, 2, 3), 1), 3);
    check_near(statistics_mean(NUMBERS(1, 2, 6)), 3);
    check_near(statistics_min(NUMBERS(5, -2, 3)), -2);
}

static void no_numbers(void **state)
{
    (void)state;
    CHECK(isnan(statistics_median(none)));
    CHECK(isnan(statistics_mean(none)));
    CHECK(isnan(statistics_min(none)));
    CHECK(isnan(statistics_median_interval(none).low));
    CHECK(isnan(statistics_ratio_interval(NUMBERS(1), none).high));
    CHECK(isnan(statistics_fit(NUMBERS(1), NUMBERS(2)).slope));
    CHECK(isnan(statistics_fit(NUMBERS(1, 1), NUMBERS(2, 3)).slope));
    CHECK(isnan(statistics_correlation(NUMBERS(1, 2), NUMBERS(3, 3))));
    CHECK(isnan(statistics_correlation_interval(NUMBERS(1, 2, 3), NUMBERS(1, 2, 4)).low));
}

/* The interval contains the median, is reproducible, and has no width if all numbers are equal. */
static void intervals_of_medians(void **state)
{
    (void)state;
    lab_numbers n = NUMBERS(10, 11, 9, 12, 10, 10.5, 9.5, 30);
    lab_interval a = statistics_median_interval(n), b = statistics_median_interval(n);
    CHECK(a.low < statistics_median(n) && statistics_median(n) < a.high);
    CHECK(a.low >= 9 && a.high < 30);
    CHECK(a.low == b.low && a.high == b.high);
    lab_interval still = statistics_median_interval(NUMBERS(4, 4, 4));
    check_near(still.low, 4);
    check_near(still.high, 4);
}

static void intervals_of_ratios(void **state)
{
    (void)state;
    lab_numbers slow = NUMBERS(20, 21, 19, 20), fast = NUMBERS(10, 10.5, 9.5, 10);
    lab_interval i = statistics_ratio_interval(fast, slow);
    CHECK(i.low > 0.4 && i.high < 0.6);
    i = statistics_ratio_interval(slow, slow);
    CHECK(i.low < 1 && i.high > 1);
}

/* A disturbance of both runs of a pair does not change their ratio. */
static void ratios_of_pairs(void **state)
{
    (void)state;
    lab_numbers slow = NUMBERS(20, 100, 40, 1000), fast = NUMBERS(10, 50, 20, 500);
    check_near(statistics_pairs_ratio(fast, slow), 0.5);
    lab_interval i = statistics_pairs_interval(fast, slow);
    check_near(i.low, 0.5);
    check_near(i.high, 0.5);
    i = statistics_ratio_interval(fast, slow);
    CHECK(i.high > 1);
    check_near(statistics_pairs_ratio(NUMBERS(2, 3, 4), NUMBERS(1, 2)),
               2); /* one pair is incomplete */
    CHECK(statistics_pairs_interval(NUMBERS(2, 3, 4), NUMBERS(1, 2)).high >= 2);
    CHECK(isnan(statistics_pairs_ratio(none, none)));
    CHECK(isnan(statistics_pairs_interval(none, none).low));
}

static void lines(void **state)
{
    (void)state;
    lab_fit f = statistics_fit(NUMBERS(0, 1, 2, 3), NUMBERS(1, 3, 5, 7));
    check_near(f.slope, 2);
    check_near(f.intercept, 1);
    check_near(f.r2, 1);
    f = statistics_fit(NUMBERS(1, 2, 3), NUMBERS(1, 3, 2)); /* by hand: y = 1 + x / 2 */
    check_near(f.slope, 0.5);
    check_near(f.intercept, 1);
    check_near(f.r2, 0.25);
    check_near(statistics_fit(NUMBERS(1, 2), NUMBERS(5, 5)).r2, 1);
}

static void correlations(void **state)
{
    (void)state;
    check_near(statistics_correlation(NUMBERS(1, 2, 3), NUMBERS(6, 4, 2)), -1);
    check_near(statistics_correlation(NUMBERS(1, 2, 3), NUMBERS(1, 3, 2)), 0.5);
    /* r = 0.5 of 7 points: tanh(atanh(0.5) +- 1.959964 / 2) */
    lab_numbers x = NUMBERS(-1, 0, 1, -1, 0, 1, 0), y = NUMBERS(-1, 1, 0, -1, 1, 0, 0);
    double r = statistics_correlation(x, y), z = atanh(r);
    lab_interval i = statistics_correlation_interval(x, y);
    check_near(r, 0.5);
    check_near(i.low, tanh(z - 0.979982));
    check_near(i.high, tanh(z + 0.979982));
    i = statistics_correlation_interval(NUMBERS(1, 2, 3, 4), NUMBERS(2, 4, 6, 8));
    check_near(i.low, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(quantiles),
        CHECK_TEST(no_numbers),
        CHECK_TEST(intervals_of_medians),
        CHECK_TEST(intervals_of_ratios),
        CHECK_TEST(ratios_of_pairs),
        CHECK_TEST(lines),
        CHECK_TEST(correlations),
    };
    return CHECK_RUN(tests);
}
