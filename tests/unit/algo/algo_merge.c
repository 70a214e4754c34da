/* Merges are stable for all lengths and element sizes. */
#include "unit/task/helpers.h"

#include "unit/algo/elements.h"

#include <errno.h>

static fi_rng rng;

static void sort_part(elements *e, size_t lo, size_t hi)
{
    CHECK_INT(filch_sort_stable(e->base + lo * e->size, hi - lo, e->size, elements_compare, e), 0);
}

/* The expected order is that of a stable sort of both ranges, concatenated. */
static void check_merge(size_t na, size_t nb, size_t size, int pattern)
{
    elements *e = elements_new(na + nb, size, 0), *out = elements_new(na + nb, size, size % 5);

    e->downwards = out->downwards = pattern % 2;
    elements_lay(e, pattern, &rng);
    sort_part(e, 0, na);
    sort_part(e, na, na + nb);
    CHECK_INT(
        filch_merge(e->base, na, e->base + na * size, nb, out->base, size, elements_compare, e), 0);
    memcpy(out->wanted, e->wanted, (na + nb) * size);
    CHECK(elements_stable(out));
    CHECK(elements_fenced(e));
    elements_free(e);
    elements_free(out);
}

static void lengths(void)
{
    static const size_t bytes[] = {1, 4, 8, 12, 16, 24, 1000};

    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
        for (size_t na = 0; na < 40; na = na * 3 / 2 + 1)
            for (size_t nb = 0; nb < 40; nb = nb * 3 / 2 + 1)
                check_merge(na, nb, bytes[i], (int)((na + nb) % PATTERNS));
}

static void long_ranges(void)
{
    const size_t n = (size_t)SCALED(30000);
    static const size_t bytes[] = {2, 4, 8, 16, 24};

    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
        for (int pattern = 0; pattern < PATTERNS; pattern++) {
            check_merge(n, n, bytes[i], pattern);
            check_merge(n, 10, bytes[i], pattern);
            check_merge(3, n, bytes[i], pattern);
            check_merge(n / 2, n, bytes[i], pattern);
            check_merge(0, n, bytes[i], pattern);
        }
}

static int at_random(const void *a, const void *b, void *ctx)
{
    static atomic_uint state;
    unsigned x = atomic_fetch_add(&state, 0x9E3779B9u) * 0x85EBCA6Bu;

    (void)a, (void)b, (void)ctx;
    return (int)(x >> 20) % 3 - 1;
}

static void inconsistent_comparison(void)
{
    static const size_t bytes[] = {1, 4, 8, 40};

    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
        for (size_t n = 2; n < (size_t)SCALED(40000); n = 3 * n + 1) {
            elements *e = elements_new(n, bytes[i], 0), *out = elements_new(n, bytes[i], 0);
            size_t na = n / 3;

            elements_lay(e, RANDOM, &rng);
            CHECK_INT(filch_merge(e->base, na, e->base + na * e->size, n - na, out->base, e->size,
                                  at_random, NULL),
                      0);
            memcpy(out->wanted, e->base, n * e->size);
            CHECK(elements_all_there(out));
            elements_free(e);
            elements_free(out);
        }
}

static void wrong_arguments(void **state)
{
    int a[] = {1, 3}, b[] = {2}, out[3] = {0};

    (void)state;
    CHECK_INT(filch_merge(NULL, 0, NULL, 0, NULL, 4, filch_compare_int, NULL), 0);
    CHECK_INT(filch_merge(NULL, 0, b, 1, out, 4, filch_compare_int, NULL), 0);
    CHECK_INT(out[0], 2);
    CHECK_INT(filch_merge(a, 2, b, 1, out, 4, filch_compare_int, NULL), 0);
    CHECK(out[0] == 1 && out[1] == 2 && out[2] == 3);
    CHECK_INT(filch_merge(NULL, 1, b, 1, out, 4, filch_compare_int, NULL), -EINVAL);
    CHECK_INT(filch_merge(a, 1, NULL, 1, out, 4, filch_compare_int, NULL), -EINVAL);
    CHECK_INT(filch_merge(a, 1, b, 1, NULL, 4, filch_compare_int, NULL), -EINVAL);
    CHECK_INT(filch_merge(a, 1, b, 1, out, 0, filch_compare_int, NULL), -EINVAL);
    CHECK_INT(filch_merge(a, 1, b, 1, out, 4, NULL, NULL), -EINVAL);
    CHECK_INT(filch_merge(a, SIZE_MAX / 8, b, SIZE_MAX / 8, out, 4, filch_compare_int, NULL),
              -EINVAL);
    CHECK_INT(filch_merge(a, SIZE_MAX, b, 2, out, 4, filch_compare_int, NULL), -EINVAL);
}

#define EACH(name)                                                                                 \
    static void name##_each(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        fi_rng_seed(&rng, 45);                                                                     \
        workers_each(NULL, name);                                                                  \
    }
EACH(lengths)
EACH(long_ranges)
EACH(inconsistent_comparison)

CHECK_MAIN(lengths_each, long_ranges_each, inconsistent_comparison_each, wrong_arguments)
