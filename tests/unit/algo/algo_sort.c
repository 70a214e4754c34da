/* Sorts equal a serial sort, for all element sizes, patterns and alignments. */
#include "unit/task/helpers.h"

#include "unit/algo/elements.h"

#include <errno.h>
#include <limits.h>

#define MANY ((size_t)(IS_SLOW ? 17000 : 40000)) /* enough to be scattered */

static fi_rng rng;

static void check_sort(size_t n, size_t size, size_t offset, int pattern)
{
    elements *e = elements_new(n, size, offset);

    e->downwards = pattern % 2;
    elements_lay(e, pattern, &rng);
    CHECK_INT(filch_sort(e->base, n, size, elements_compare, e), 0);
    CHECK(elements_sorted(e));
    elements_lay(e, pattern, &rng);
    CHECK_INT(filch_sort_stable(e->base, n, size, elements_compare, e), 0);
    CHECK(elements_stable(e));
    elements_free(e);
}

static void sizes(void)
{
    static const size_t bytes[] = {1, 2, 3, 4, 5, 8, 12, 16, 17, 24, 32, 100, 1000};

    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
        for (int pattern = 0; pattern < PATTERNS; pattern++) {
            check_sort((size_t)SCALED(1000), bytes[i], 0, pattern);
            check_sort((size_t)SCALED(7770), bytes[i], 3, pattern);
        }
}

/* Lengths around every threshold of the sort. */
static void lengths(void)
{
    static const size_t bytes[] = {3, 4, 8};

    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        for (size_t n = 0; n < 140; n++)
            check_sort(n, bytes[i], 0, (int)(n % PATTERNS));
        for (size_t n = 256; n <= (size_t)SCALED(65536); n *= 2)
            for (size_t odd = 0; odd < 3; odd++) {
                check_sort(n - 1 + odd, bytes[i], 0, RANDOM);
                check_sort(n - 1 + odd, bytes[i], 0, ORGAN_PIPE);
            }
    }
}

static void patterns(void)
{
    static const size_t bytes[] = {4, 12, 24};

    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
        for (int pattern = 0; pattern < PATTERNS; pattern++)
            check_sort(MANY, bytes[i], 0, pattern);
}

/* ---- nested, and from tasks ---- */

#define ROWS 40

static elements *row[ROWS];

static void sort_rows(size_t lo, size_t hi, void *ctx)
{
    (void)ctx;
    for (; lo < hi; lo++)
        if (filch_sort_stable(row[lo]->base, row[lo]->n, row[lo]->size, elements_compare, row[lo]))
            abort();
}

static void nested(void)
{
    for (size_t i = 0; i < ROWS; i++) {
        row[i] = elements_new((i % 7) * (i % 7) * (size_t)SCALED(900), 2 + i, 0);
        elements_lay(row[i], (int)i % PATTERNS, &rng);
    }
    filch_for(0, ROWS, 1, sort_rows, NULL);
    for (size_t i = 0; i < ROWS; i++) {
        CHECK(elements_stable(row[i]));
        elements_free(row[i]);
    }
}

/* A comparison may use the runtime itself. */
static int compare_with_a_sort(const void *a, const void *b, void *ctx)
{
    int pair[2] = {*(const int *)a, *(const int *)b};

    (void)ctx;
    if (filch_sort(pair, 2, sizeof *pair, filch_compare_int, NULL))
        abort();
    return *(const int *)a == *(const int *)b ? 0 : pair[0] == *(const int *)a ? -1 : 1;
}

static void sorts_within_comparisons(void)
{
    static int v[20000];
    const int n = SCALED(20000);

    for (int i = 0; i < n; i++)
        v[i] = (int)fi_rng_below(&rng, 1000000);
    CHECK_INT(filch_sort(v, (size_t)n, sizeof *v, compare_with_a_sort, NULL), 0);
    for (int i = 1; i < n; i++)
        CHECK(v[i - 1] <= v[i]);
}

/* ---- wrong arguments ---- */

static void wrong_arguments(void **state)
{
    char one = 'x', two[] = {2, 1};
    elements e = {.size = 1};

    (void)state;
    CHECK_INT(filch_sort(NULL, 0, 4, elements_compare, &e), 0);
    CHECK_INT(filch_sort(&one, 1, 1, elements_compare, &e), 0);
    CHECK_INT(filch_sort(two, 1, 2, elements_compare, &e), 0);
    CHECK(one == 'x' && two[0] == 2);
    CHECK_INT(filch_sort(NULL, 1, 4, elements_compare, &e), -EINVAL);
    CHECK_INT(filch_sort(&one, 1, 0, elements_compare, &e), -EINVAL);
    CHECK_INT(filch_sort(NULL, 0, 0, elements_compare, &e), -EINVAL);
    CHECK_INT(filch_sort(two, 2, 1, NULL, &e), -EINVAL);
    CHECK_INT(filch_sort(two, SIZE_MAX, 1, elements_compare, &e), -EINVAL);
    CHECK_INT(filch_sort(two, SIZE_MAX / 4 + 2, 4, elements_compare, &e), -EINVAL);
    CHECK_INT(filch_sort(two, 4, SIZE_MAX / 4 + 2, elements_compare, &e), -EINVAL);
    CHECK_INT(filch_sort_stable(two, SIZE_MAX / 2, 3, elements_compare, &e), -EINVAL);
    CHECK_INT(filch_sort_stable(NULL, 0, 0, elements_compare, &e), -EINVAL);
    CHECK(two[0] == 2 && two[1] == 1);
}

#define EACH(name)                                                                                 \
    static void name##_each(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        fi_rng_seed(&rng, 42);                                                                     \
        workers_each(NULL, name);                                                                  \
    }
EACH(sizes)
EACH(lengths)
EACH(patterns)
EACH(nested)
EACH(sorts_within_comparisons)

CHECK_MAIN(sizes_each, lengths_each, patterns_each, nested_each, sorts_within_comparisons_each,
           wrong_arguments)
