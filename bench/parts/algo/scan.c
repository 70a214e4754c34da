/* Scan and sum of 64M doubles, compared with serial loops over the same memory: one loop on one
 * core, or two independent loops on two cores, each over one half. */
#include "parts/algo/algo_bench.h"

#include <filch/algo.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
    double *in, *out;
    size_t n;
    double sum;
} all;

/* ---- serial loops; the dependency chain is one addition per four elements ---- */

static double write_sums(size_t lo, size_t hi, double sum)
{
    const double *in = all.in;
    double *out = all.out;
    size_t i = lo;

    for (; i + 4 <= hi; i += 4) {
        double two = in[i] + in[i + 1], three = two + in[i + 2];
        double four = two + (in[i + 2] + in[i + 3]);

        out[i] = sum + in[i];
        out[i + 1] = sum + two;
        out[i + 2] = sum + three;
        sum += four;
        out[i + 3] = sum;
    }
    for (; i < hi; i++) {
        sum += in[i];
        out[i] = sum;
    }
    return sum;
}

static double add_up(size_t lo, size_t hi)
{
    double s[8] = {0};
    size_t i = lo;

    for (; i + 8 <= hi; i += 8)
        for (size_t j = 0; j < 8; j++)
            s[j] += all.in[i + j];
    for (; i < hi; i++)
        s[0] += all.in[i];
    return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
}

static void *scan_second_half(void *arg)
{
    *(double *)arg = write_sums(all.n / 2, all.n, 0);
    return NULL;
}

static void *add_second_half(void *arg)
{
    *(double *)arg = add_up(all.n / 2, all.n);
    return NULL;
}

static void scan_serially(void *arg)
{
    (void)arg;
    all.sum = write_sums(0, all.n, 0);
}

static void add_serially(void *arg)
{
    (void)arg;
    all.sum = add_up(0, all.n);
}

static void run_halves(void *(*second)(void *arg), double (*first)(void))
{
    pthread_t thread;
    double other = 0;

    if (pthread_create(&thread, NULL, second, &other) != 0)
        abort();
    all.sum = first();
    pthread_join(thread, NULL);
    all.sum += other;
}

static double scan_first_half(void)
{
    return write_sums(0, all.n / 2, 0);
}

static double add_first_half(void)
{
    return add_up(0, all.n / 2);
}

static void scan_halves(void *arg)
{
    (void)arg;
    run_halves(scan_second_half, scan_first_half);
}

static void add_halves(void *arg)
{
    (void)arg;
    run_halves(add_second_half, add_first_half);
}

/* ---- Filch ---- */

static void map(size_t lo, size_t hi, void *acc, void *ctx)
{
    (void)ctx;
    *(double *)acc += add_up(lo, hi);
}

static void combine(void *acc, const void *other, void *ctx)
{
    (void)ctx;
    *(double *)acc += *(const double *)other;
}

static void write_part(size_t lo, size_t hi, void *acc, void *ctx)
{
    (void)ctx;
    write_sums(lo, hi, *(double *)acc);
}

static const double zero;

static void scan(void *arg)
{
    (void)arg;
    all.sum = 0;
    filch_scan(0, all.n, 0, &all.sum, &zero, sizeof zero, map, combine, write_part, NULL);
}

static void reduce(void *arg)
{
    (void)arg;
    all.sum = 0;
    filch_reduce(0, all.n, 0, &all.sum, &zero, sizeof zero, map, combine, NULL);
}

/* All elements are 1, so sums are exact. */
static bool is_right_sum(void *arg)
{
    (void)arg;
    return all.sum == (double)all.n;
}

static bool are_right_sums(void *arg)
{
    for (size_t i = 0; i < all.n; i += 1021)
        if (all.out[i] != (double)(i + 1))
            return false;
    return is_right_sum(arg);
}

void algo_scan(const algo_options *o)
{
    static const algo_variant scans[] = {
        {"serial loop", 0, NULL, scan_serially, are_right_sums, NULL},
        {"a serial loop per half, 2 threads", 0, NULL, scan_halves, is_right_sum, NULL},
        {"filch_scan, 1 worker", 1, NULL, scan, are_right_sums, NULL},
        {"filch_scan, 2 workers", 2, NULL, scan, are_right_sums, NULL},
    };
    static const algo_variant sums[] = {
        {"serial loop", 0, NULL, add_serially, is_right_sum, NULL},
        {"a serial loop per half, 2 threads", 0, NULL, add_halves, is_right_sum, NULL},
        {"filch_reduce, 1 worker", 1, NULL, reduce, is_right_sum, NULL},
        {"filch_reduce, 2 workers", 2, NULL, reduce, is_right_sum, NULL},
    };
    char title[64];

    all.n = o->quick ? 300000 : (size_t)64 << 20;
    all.in = algo_memory(all.n * sizeof *all.in);
    all.out = algo_memory(all.n * sizeof *all.out);
    for (size_t i = 0; i < all.n; i++)
        all.in[i] = 1;
    snprintf(title, sizeof title, "scan %zu doubles", all.n);
    algo_compare(o, title, scans, sizeof scans / sizeof *scans);
    snprintf(title, sizeof title, "sum %zu doubles", all.n);
    algo_compare(o, title, sums, sizeof sums / sizeof *sums);
    free(all.in);
    free(all.out);
}
