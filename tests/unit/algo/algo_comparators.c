/* Calls of the comparison function.  They are few if the elements are almost sorted, and bounded
 * for an adversary.  Even with an inconsistent function no element is lost and no other memory is
 * written. */
#include "unit/task/helpers.h"

#include "unit/algo/elements.h"

#include <math.h>

static fi_rng rng;

/* ---- the number of comparisons ---- */

#ifdef FILCH_SERIAL
SKIP_IN_SERIAL(few_comparisons_each, "search for sorted runs and equal elements")
SKIP_IN_SERIAL(few_comparisons_descending_each, "search for sorted runs and equal elements")
#else
static size_t count_compares(size_t n, size_t size, int pattern)
{
    elements *e = elements_new(n, size, 0);
    size_t compared;

    elements_lay(e, pattern, &rng);
    CHECK_INT(filch_sort_stable(e->base, n, size, elements_count, e), 0);
    CHECK(elements_stable(e));
    compared = atomic_load(&e->compared);
    elements_free(e);
    return compared;
}

static void few_comparisons(void)
{
    const size_t n = IS_SLOW ? 17000 : 60000;
    static const size_t bytes[] = {4, 12};

    for (size_t i = 0; i < 2; i++) {
        CHECK(count_compares(n, bytes[i], SORTED) < n + n / 50);
        CHECK(count_compares(n, bytes[i], EQUAL) < n + n / 50);
        CHECK(count_compares(n, bytes[i], RUNS) < 5 * n);
        CHECK(count_compares(n, bytes[i], FEW) < 11 * n);
        CHECK((double)count_compares(n, bytes[i], RANDOM) < 1.2 * (double)n * log2((double)n));
    }
}

/* Strictly descending, which is impossible for many elements with short keys. */
static int compare_and_count(const void *a, const void *b, void *ctx)
{
    int x = *(const int *)a, y = *(const int *)b;

    atomic_fetch_add_explicit((atomic_size_t *)ctx, 1, memory_order_relaxed);
    return (x > y) - (x < y);
}

#define INTS 50000

static size_t count_compares_of_ints(int (*value)(int i))
{
    static int v[INTS];
    atomic_size_t compared = 0;

    for (int i = 0; i < INTS; i++)
        v[i] = value(i);
    CHECK_INT(filch_sort(v, INTS, sizeof *v, compare_and_count, &compared), 0);
    for (int i = 0; i < INTS; i++)
        CHECK_INT(v[i], i);
    return atomic_load(&compared);
}

static int reversed(int i)
{
    return INTS - 1 - i;
}

static int organ_pipe(int i)
{
    return i < INTS / 2 ? 2 * i : 2 * (INTS - 1 - i) + 1;
}

static void few_comparisons_descending(void)
{
    CHECK(count_compares_of_ints(reversed) < INTS + INTS / 50);
    CHECK(count_compares_of_ints(organ_pipe) < 2 * INTS + INTS / 20);
}

static void few_comparisons_each(void **state)
{
    (void)state;
    fi_rng_seed(&rng, 44);
    workers_each(NULL, few_comparisons);
}

static void few_comparisons_descending_each(void **state)
{
    (void)state;
    workers_each(NULL, few_comparisons_descending);
}
#endif

/* ---- an adversary ---- It chooses the values during the sort, so that each pivot becomes the
 * smallest (McIlroy, "A killer adversary for quicksort", 1999).  An element is an index. */

#define ADVERSARY_N 20000

static struct {
    unsigned value[ADVERSARY_N], gas, frozen, candidate;
    size_t asked;
} adversary;

static void freeze(unsigned i)
{
    adversary.value[i] = adversary.frozen++;
}

static int compare_as_adversary(const void *a, const void *b, void *ctx)
{
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
    unsigned *value = adversary.value, gas = adversary.gas;

    (void)ctx;
    adversary.asked++;
    if (value[x] == gas && value[y] == gas)
        freeze(x == adversary.candidate ? x : y);
    if (value[x] == gas)
        adversary.candidate = x;
    else if (value[y] == gas)
        adversary.candidate = y;
    return (value[x] > value[y]) - (value[x] < value[y]);
}

static void adversary_is_bounded(void **state)
{
    static unsigned v[ADVERSARY_N];

    (void)state;
    CHECK_INT(filch_start(&(filch_config){.workers = 1}), 0);
    for (size_t n = 1000; n <= ADVERSARY_N; n += 1900) {
        memset(&adversary, 0, sizeof adversary);
        adversary.gas = ADVERSARY_N;
        for (unsigned i = 0; i < n; i++) {
            v[i] = i;
            adversary.value[i] = adversary.gas;
        }
        CHECK_INT(filch_sort(v, n, sizeof *v, compare_as_adversary, NULL), 0);
        CHECK((double)adversary.asked < 3 * (double)n * log2((double)n));
    }
    CHECK_INT(filch_stop(), 0);
}

/* ---- inconsistent functions ---- */

/* An element that is compared with many in a row, such as a pivot, is always less. */
static int against_pivots(const void *a, const void *b, void *ctx)
{
    static const void *last_a, *last_b;
    int x = *(const int *)a, y = *(const int *)b, way = (x > y) - (x < y);

    if (++*(size_t *)ctx > 10000000)
        abort(); /* the sort would not terminate */
    if (b == last_b)
        way = 1;
    else if (a == last_a)
        way = -1;
    last_a = a;
    last_b = b;
    return way;
}

static void pivots_without_equals(void **state)
{
    static int v[5000];

    (void)state;
    CHECK_INT(filch_start(&(filch_config){.workers = 1}), 0);
    for (int round = 0; round < 20; round++) {
        size_t asked = 0;
        long sum = 0;

        for (int i = 0; i < 5000; i++)
            v[i] = i * 1237 % 5000;
        CHECK_INT(filch_sort(v, 5000 - (size_t)round, sizeof *v, against_pivots, &asked), 0);
        for (int i = 0; i < 5000; i++)
            sum += v[i];
        CHECK_INT(sum, 5000L * 4999 / 2);
    }
    CHECK_INT(filch_stop(), 0);
}

static int always_less(const void *a, const void *b, void *ctx)
{
    (void)a, (void)b, (void)ctx;
    return -1;
}

static int always_greater(const void *a, const void *b, void *ctx)
{
    (void)a, (void)b, (void)ctx;
    return 1;
}

static int at_random(const void *a, const void *b, void *ctx)
{
    static atomic_ullong state;
    unsigned long long x = atomic_fetch_add(&state, 0x9E3779B97F4A7C15u);

    (void)a, (void)b, (void)ctx;
    x ^= x >> 31;
    x *= 0xBF58476D1CE4E5B9u;
    return (int)(x >> 40) % 3 - 1;
}

/* Cyclic, as in paper, scissors, stone. */
static int cyclic(const void *a, const void *b, void *ctx)
{
    unsigned x = elements_key(ctx, a) % 3, y = elements_key(ctx, b) % 3;

    return x == y ? 0 : (x + 1) % 3 == y ? -1 : 1;
}

/* As for NaN, which is neither less nor greater nor equal. */
static int with_nans(const void *a, const void *b, void *ctx)
{
    unsigned x = elements_key(ctx, a), y = elements_key(ctx, b);

    return x % 4 == 0 || y % 4 == 0 ? 0 : (x > y) - (x < y);
}

static void check_inconsistent(int (*by)(const void *a, const void *b, void *ctx), size_t n,
                               size_t size)
{
    elements *e = elements_new(n, size, 0);

    for (int pattern = RANDOM; pattern <= SORTED; pattern++)
        for (int stable = 0; stable < 2; stable++) {
            elements_lay(e, pattern, &rng);
            CHECK_INT((stable ? filch_sort_stable : filch_sort)(e->base, n, size, by, e), 0);
            CHECK(elements_all_there(e));
        }
    elements_free(e);
}

static void inconsistent(void)
{
    static int (*const functions[])(const void *a, const void *b, void *ctx) = {
        always_less, always_greater, at_random, cyclic, with_nans};
    static const size_t sizes[] = {1, 4, 8, 16, 24, 40};

    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++) {
            for (size_t n = 2; n < 70; n += 7)
                check_inconsistent(functions[i], n, sizes[j]);
            check_inconsistent(functions[i], (size_t)SCALED(1500), sizes[j]);
            check_inconsistent(functions[i], (size_t)SCALED(30000), sizes[j]);
        }
}

static void inconsistent_each(void **state)
{
    (void)state;
    fi_rng_seed(&rng, 44);
    workers_each(NULL, inconsistent);
}

CHECK_MAIN(few_comparisons_each, few_comparisons_descending_each, adversary_is_bounded,
           pivots_without_equals, inconsistent_each)
