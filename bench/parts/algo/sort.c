/* Sorting 16M ints in five initial orders: by Filch with a comparison function that it recognises,
 * by Filch with another one, and by C++ sorts, which inline the comparison. */
#include "parts/algo/sort.h"
#include "parts/algo/algo_bench.h"

#include <filch/algo.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    int *before, *now;
    size_t n;
    uint64_t sum;
} ints;

/* ---- initial orders ---- */

static uint64_t random_bits(void)
{
    static uint64_t x = 88172645463325252u;

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return x >> 16;
}

static int random_int(size_t i)
{
    (void)i;
    return (int)random_bits();
}

static int sorted(size_t i)
{
    return (int)i;
}

static int reversed(size_t i)
{
    return (int)(ints.n - i);
}

static int few_distinct(size_t i)
{
    (void)i;
    return (int)(random_bits() % 16);
}

static int organ_pipe(size_t i)
{
    return (int)(i < ints.n / 2 ? i : ints.n - i);
}

static const struct pattern {
    const char *title;
    int (*value)(size_t i);
} patterns[] = {
    {"random", random_int},         {"sorted", sorted},         {"reversed", reversed},
    {"few distinct", few_distinct}, {"organ pipe", organ_pipe},
};

static uint64_t sum_of(const int *v)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < ints.n; i++)
        sum += (uint64_t)v[i] * (uint64_t)v[i] + (uint64_t)v[i];
    return sum;
}

static void make_input(const struct pattern *p)
{
    for (size_t i = 0; i < ints.n; i++)
        ints.before[i] = p->value(i);
    ints.sum = sum_of(ints.before);
}

static void copy_input(void *arg)
{
    (void)arg;
    memcpy(ints.now, ints.before, ints.n * sizeof *ints.now);
}

static bool are_sorted(void *arg)
{
    (void)arg;
    for (size_t i = 1; i < ints.n; i++)
        if (ints.now[i] < ints.now[i - 1])
            return false;
    return sum_of(ints.now) == ints.sum;
}

/* ---- sorts ---- */

static int by_value(const void *a, const void *b, void *ctx)
{
    int x = *(const int *)a, y = *(const int *)b;

    (void)ctx;
    return (x > y) - (x < y);
}

static void sort_known(void *arg)
{
    (void)arg;
    filch_sort(ints.now, ints.n, sizeof *ints.now, filch_compare_int, NULL);
}

static void sort_by_function(void *arg)
{
    (void)arg;
    filch_sort(ints.now, ints.n, sizeof *ints.now, by_value, NULL);
}

static void sort_stably(void *arg)
{
    (void)arg;
    filch_sort_stable(ints.now, ints.n, sizeof *ints.now, by_value, NULL);
}

#define PEER(name)                                                                                 \
    static void sort_##name(void *arg)                                                             \
    {                                                                                              \
        (void)arg;                                                                                 \
        algo_sort_##name(ints.now, ints.n);                                                        \
    }
#ifdef HAVE_CXX
PEER(std)
#endif
#ifdef HAVE_TBB
PEER(tbb)
#endif
#ifdef HAVE_GNU_PARALLEL
PEER(gnu)
#endif

static const algo_variant variants[] = {
    {"filch, 1 worker", 1, copy_input, sort_known, are_sorted, NULL},
    {"filch, 2 workers", 2, copy_input, sort_known, are_sorted, NULL},
    {"filch, own function, 1 worker", 1, copy_input, sort_by_function, are_sorted, NULL},
    {"filch, own function, 2 workers", 2, copy_input, sort_by_function, are_sorted, NULL},
    {"filch stable, own function, 2", 2, copy_input, sort_stably, are_sorted, NULL},
#ifdef HAVE_CXX
    {"std::sort", 0, copy_input, sort_std, are_sorted, NULL},
#endif
#ifdef HAVE_TBB
    {"tbb::parallel_sort, 2 threads", 0, copy_input, sort_tbb, are_sorted, NULL},
#endif
#ifdef HAVE_GNU_PARALLEL
    {"__gnu_parallel::sort, 2 threads", 0, copy_input, sort_gnu, are_sorted, NULL},
#endif
};

void algo_sort(const algo_options *o)
{
    ints.n = o->quick ? 100000 : (size_t)16 << 20;
    ints.before = algo_memory(ints.n * sizeof *ints.before);
    ints.now = algo_memory(ints.n * sizeof *ints.now);
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        char title[64];

        make_input(&patterns[i]);
        snprintf(title, sizeof title, "sort %zu ints, %s", ints.n, patterns[i].title);
        algo_compare(o, title, variants, sizeof variants / sizeof *variants);
    }
    free(ints.before);
    free(ints.now);
}
