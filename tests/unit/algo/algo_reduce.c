/* A reduction equals a serial one and combines neighbours only.  Inexact sums have the same bits
 * with any number of workers. */
#include "unit/algo/ordered_op.h"
#include "unit/task/helpers.h"

#include <errno.h>

#define N 100000

static double value[N];

static void add_up(size_t lo, size_t hi, void *acc, void *ctx)
{
    (void)ctx;
    for (size_t i = lo; i < hi; i++)
        *(double *)acc += value[i];
}

static void add(void *acc, const void *other, void *ctx)
{
    (void)ctx;
    *(double *)acc += *(const double *)other;
}

static double sum(size_t n, size_t grain)
{
    double all = 0, zero = 0;

    CHECK_INT(filch_reduce(0, n, grain, &all, &zero, sizeof all, add_up, add, NULL), 0);
    return all;
}

static uint64_t sums[4][3]; /* their bits */
static int run_number;

static uint64_t bits(double x)
{
    uint64_t b;

    memcpy(&b, &x, sizeof b);
    return b;
}

static void add_all(void)
{
    uint64_t *s = sums[run_number++];

    for (int i = 0; i < 20; i++) {
        double all = sum(N, 0);

        CHECK(all > 12.09 && all < 12.0902);
        s[0] = bits(all);
        s[1] = bits(sum(N, 7));
        s[2] = bits(sum(N - 1, 1000));
    }
}

static void same_bits_for_any_workers(void **state)
{
    (void)state;
    for (int i = 0; i < N; i++)
        value[i] = 1.0 / (i + 1);
    run_number = 0;
    workers_each(NULL, add_all);
    for (int i = 1; i < run_number; i++)
        CHECK(memcmp(sums[0], sums[i], sizeof sums[0]) == 0);
}

/* ---- an operation that is not commutative ---- */

static void neighbours(void)
{
    for (size_t n = 1; n < 3000; n = n * 3 / 2 + 1)
        for (size_t grain = 0; grain < 50; grain = 2 * grain + 1) {
            interval s = {0}, none = {0};

            CHECK_INT(filch_reduce(3, 3 + n, grain, &s, &none, sizeof s, note, join, NULL), 0);
            CHECK(!s.has_gap && s.lo == 3 && s.hi == 3 + n);
            CHECK_INT(filch_reduce(3 + n, 4 + 2 * n, grain, &s, &none, sizeof s, note, join, NULL),
                      0);
            CHECK(!s.has_gap && s.lo == 3 && s.hi == 4 + 2 * n);
        }
}

static void combines_neighbours(void **state)
{
    (void)state;
    workers_each(NULL, neighbours);
}

static void appends_to_the_result(void)
{
    double all = 10, zero = 0;

    for (int i = 0; i < N; i++)
        value[i] = i;
    CHECK_INT(filch_reduce(0, 101, 1, &all, &zero, sizeof all, add_up, add, NULL), 0);
    CHECK(all == 10 + 5050 && zero == 0);
    CHECK_INT(filch_reduce(5, 5, 0, &all, &zero, sizeof all, add_up, add, NULL), 0);
    CHECK_INT(filch_reduce(6, 5, 1, &all, &zero, sizeof all, add_up, add, NULL), 0);
    CHECK(all == 10 + 5050);
}

static void appends_to_the_result_each(void **state)
{
    (void)state;
    workers_each(NULL, appends_to_the_result);
}

static void wrong_arguments(void **state)
{
    static char large[FILCH_REDUCE_MAX + 1];

    (void)state;
    CHECK_INT(filch_reduce(0, 9, 1, large, large, sizeof large, add_up, add, NULL), -EINVAL);
}

CHECK_MAIN(same_bits_for_any_workers, combines_neighbours, appends_to_the_result_each,
           wrong_arguments)
