/* Comparison functions that the sort recognises.  They order numbers correctly, and give the same
 * result as an equivalent function of the user. */
#include "unit/task/helpers.h"

#include "base/rng.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>

typedef int compare(const void *a, const void *b, void *ctx);

static fi_rng rng;

/* ---- they order numbers ---- */

static int sign(int x)
{
    return (x > 0) - (x < 0);
}

/* The values are ascending. */
static void check_order(compare *by, const void *values, size_t n, size_t size)
{
    const char *v = values;

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            CHECK_INT(sign(by(v + i * size, v + j * size, NULL)), (i > j) - (i < j));
}

#define ORDER(by, type, ...)                                                                       \
    do {                                                                                           \
        const type values[] = {__VA_ARGS__};                                                       \
        check_order(by, values, sizeof values / sizeof *values, sizeof *values);                   \
    } while (0)

static void order_numbers(void **state)
{
    (void)state;
    ORDER(filch_compare_int, int, INT_MIN, -2, -1, 0, 1, INT_MAX);
    ORDER(filch_compare_long, long, LONG_MIN, -2, -1, 0, 1, LONG_MAX);
    ORDER(filch_compare_int32, int32_t, INT32_MIN, -1, 0, 1, INT32_MAX);
    ORDER(filch_compare_uint32, uint32_t, 0, 1, INT32_MAX, UINT32_MAX);
    ORDER(filch_compare_int64, int64_t, INT64_MIN, INT32_MIN, -1, 0, 1, INT64_MAX);
    ORDER(filch_compare_uint64, uint64_t, 0, 1, INT64_MAX, UINT64_MAX);
    ORDER(filch_compare_float, float, -NAN, -INFINITY, -FLT_MAX, -FLT_MIN, -0.0F, 0.0F, FLT_MIN,
          FLT_MAX, INFINITY, NAN);
    ORDER(filch_compare_double, double, -(double)NAN, -(double)INFINITY, -DBL_MAX, -DBL_MIN / 2,
          -0.0, 0.0, DBL_MIN / 2, 1.0, DBL_MAX, (double)INFINITY, (double)NAN);
    ORDER(filch_compare_string, char *, "", "a", "aa", "b", "\xff");
}

/* ---- recognised and other functions give the same result ---- */

typedef struct wrapped {
    compare *by;
} wrapped;

static int by_another_function(const void *a, const void *b, void *ctx)
{
    const wrapped *w = ctx;

    return w->by(a, b, NULL);
}

enum { ANY_BITS, SMALL, TWO, OUTLIER, POWERS, EQUAL, UP, DOWN, WAYS };

/* Bits of a number.  One outlier puts all others into one bucket; powers do so repeatedly. */
static uint64_t draw(int pattern, size_t i, size_t n)
{
    uint64_t bits = fi_rng_next(&rng);

    switch (pattern) {
    case SMALL:
        return bits % 1000;
    case TWO:
        return bits % 2 ? 5 : (uint64_t)1 << 30;
    case OUTLIER:
        return i == n / 2 ? ~(uint64_t)0 >> 2 : bits % 300000;
    case POWERS:
        return bits >> fi_rng_below(&rng, 64);
    case EQUAL:
        return 0x0123456789abcdefu;
    case UP:
        return i;
    case DOWN:
        return n - i;
    default:
        return bits;
    }
}

static void fill(char *v, size_t n, size_t size, int pattern)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = draw(pattern, i, n);
        uint32_t low = (uint32_t)(pattern == ANY_BITS || pattern == OUTLIER ? bits >> 20 : bits);

        memcpy(v + i * size, size == 8 ? (void *)&bits : (void *)&low, size);
    }
}

static void check_known(compare *by, size_t size, size_t n, int pattern)
{
    char *known = malloc(n * size + 1), *other = malloc(n * size + 1);
    wrapped w = {by};

    CHECK(known && other);
    fill(known + 1, n, size, pattern); /* at an odd address */
    memcpy(other + 1, known + 1, n * size);
    CHECK_INT(filch_sort(known + 1, n, size, by, NULL), 0);
    CHECK_INT(filch_sort_stable(other + 1, n, size, by_another_function, &w), 0);
    CHECK(memcmp(known + 1, other + 1, n * size) == 0);
    for (size_t i = 1; i < n; i++)
        CHECK(by(known + 1 + (i - 1) * size, known + 1 + i * size, NULL) <= 0);
    free(known);
    free(other);
}

static void known_equals_unknown(void)
{
    static const struct {
        compare *by;
        size_t size;
    } all[] = {{filch_compare_int, sizeof(int)}, {filch_compare_long, sizeof(long)},
               {filch_compare_int32, 4},         {filch_compare_uint32, 4},
               {filch_compare_int64, 8},         {filch_compare_uint64, 8},
               {filch_compare_float, 4},         {filch_compare_double, 8}};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (int pattern = 0; pattern < WAYS; pattern++) {
            check_known(all[i].by, all[i].size, 50, pattern);
            check_known(all[i].by, all[i].size, 3000, pattern);
            check_known(all[i].by, all[i].size, (size_t)SCALED(40000), pattern);
        }
}

/* Enough that a bucket with all elements but one is scattered again, even if all its keys are
 * equal. */
static void many(void)
{
    check_known(filch_compare_int, 4, (size_t)SCALED(600000), ANY_BITS);
    check_known(filch_compare_int, 4, (size_t)SCALED(600000), OUTLIER);
    check_known(filch_compare_uint64, 8, (size_t)SCALED(600000), POWERS);
    check_known(filch_compare_uint32, 4, (size_t)SCALED(600000), TWO);
    check_known(filch_compare_double, 8, (size_t)SCALED(600000), OUTLIER);
}

/* A recognised function with another element size is treated as a user's function. */
static int calls_with_context;

static void other_sizes(void)
{
    struct {
        int32_t key;
        char more[8];
    } v[500];

    for (int i = 0; i < 500; i++)
        v[i].key = (int32_t)fi_rng_next(&rng);
    CHECK_INT(filch_sort(v, 500, sizeof *v, filch_compare_int32, &calls_with_context), 0);
    for (int i = 1; i < 500; i++)
        CHECK(v[i - 1].key <= v[i].key);
}

static void strings(void)
{
    static char text[2000][8];
    static char *v[2000];

    for (int i = 0; i < 2000; i++) {
        snprintf(text[i], sizeof text[i], "%u", fi_rng_below(&rng, 9999));
        v[i] = text[i];
    }
    CHECK_INT(filch_sort(v, 2000, sizeof *v, filch_compare_string, NULL), 0);
    for (int i = 1; i < 2000; i++)
        CHECK(strcmp(v[i - 1], v[i]) <= 0);
}

#define EACH(name)                                                                                 \
    static void name##_each(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        fi_rng_seed(&rng, 43);                                                                     \
        workers_each(NULL, name);                                                                  \
    }
EACH(known_equals_unknown)
EACH(many)
EACH(other_sizes)
EACH(strings)

CHECK_MAIN(order_numbers, known_equals_unknown_each, many_each, other_sizes_each, strings_each)
