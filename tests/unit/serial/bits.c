#include "bits.h"

#include <filch/algo.h>

#include <string.h>

static void add_up(size_t lo, size_t hi, void *acc, void *ctx)
{
    (void)ctx;
    for (size_t i = lo; i < hi; i++)
        *(double *)acc += 1.0 / (double)(i + 1);
}

static void add(void *acc, const void *other, void *ctx)
{
    (void)ctx;
    *(double *)acc += *(const double *)other;
}

static void mix(uint64_t *hash, double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    *hash = (*hash ^ bits) * 0x9E3779B97F4A7C15u;
}

static double before[BITS_N_MAX];

/* Records the value before each block at the block's first element. */
static void note_block(size_t lo, size_t hi, void *acc, void *ctx)
{
    (void)hi, (void)ctx;
    before[lo] = *(double *)acc;
}

#ifdef FILCH_SERIAL
uint64_t bits_of_headers(size_t n, size_t grain)
#else
uint64_t bits_of_library(size_t n, size_t grain)
#endif
{
    double sum = 0.1, zero = 0;
    uint64_t hash = 1;

    memset(before, 0, sizeof before);
    filch_reduce(0, n, grain, &sum, &zero, sizeof sum, add_up, add, NULL);
    mix(&hash, sum);
    filch_scan(0, n, grain, &sum, &zero, sizeof sum, add_up, add, note_block, NULL);
    mix(&hash, sum);
    for (size_t i = 0; i < n; i++)
        mix(&hash, before[i]);
    return hash;
}
