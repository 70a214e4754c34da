/* Interleaved measurement: the speed of a machine varies over time, so all variants run in every
 * round. */
#include "parts/algo/algo_bench.h"

#include <filch/runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

_Noreturn static void give_up(const char *name, const char *why)
{
    fprintf(stderr, "algo_bench: %s: %s\n", name, why);
    exit(1);
}

void *algo_memory(size_t bytes)
{
    void *p = malloc(bytes);

    if (!p)
        give_up("memory", "allocation failed");
    return memset(p, 1, bytes);
}

static double measure(const algo_variant *w)
{
    double took;

    if (w->workers > 0 && filch_start(&(filch_config){.workers = w->workers}) != 0)
        give_up(w->name, "cannot start the runtime");
    if (w->prepare)
        w->prepare(w->arg);
    took = now();
    w->run(w->arg);
    took = now() - took;
    if (w->workers > 0)
        filch_stop();
    if (w->is_right && !w->is_right(w->arg))
        give_up(w->name, "wrong result");
    return took * 1e3;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void print(const char *title, const algo_variant *variants, size_t n, size_t rounds,
                  double *took)
{
    double first_best = 0, first_median = 0;

    printf("%-36s %10s %10s %8s %8s\n", title, "best ms", "median ms", "best", "median");
    for (size_t i = 0; i < n; i++) {
        double *mine = took + i * rounds, best, median;

        qsort(mine, rounds, sizeof *mine, by_value);
        best = mine[0];
        median = mine[rounds / 2];
        if (i == 0) {
            first_best = best;
            first_median = median;
        }
        printf("  %-34s %10.3f %10.3f %8.2f %8.2f\n", variants[i].name, best, median,
               first_best / best, first_median / median);
    }
    fflush(stdout);
}

/* The order changes from round to round, and odd rounds run backwards, so that no variant always
 * finds the caches and the memory that the same other variant left behind. */
static size_t variant_at(size_t round, size_t turn, size_t n)
{
    size_t i = (round / 2 + turn) % n;

    return round % 2 ? n - 1 - i : i;
}

void algo_compare(const algo_options *o, const char *title, const algo_variant *variants, size_t n)
{
    double *took = algo_memory(n * o->rounds * sizeof *took);

    for (size_t round = 0; round < o->rounds; round++)
        for (size_t turn = 0; turn < n; turn++) {
            size_t i = variant_at(round, turn, n);
            took[i * o->rounds + round] = measure(&variants[i]);
        }
    print(title, variants, n, o->rounds, took);
    free(took);
}
