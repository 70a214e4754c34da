/* Quantiles, bootstrap intervals, correlation and fits, for experiments.  No input or output. */
#include "statistics.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS = 2000 };
static const uint64_t bootstrap_seed = 1;
static const double interval_quantiles[2] = {0.025, 0.975};

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Linear interpolation between the two nearest. */
static double quantile_of_sorted(const double *at, int n, double fraction)
{
    double where = fraction * (n - 1);
    int below = (int)where;
    int above = below + 1 < n ? below + 1 : below;
    return at[below] + (where - below) * (at[above] - at[below]);
}

double statistics_quantile(lab_numbers n, double fraction)
{
    double *copy = n.count > 0 ? malloc((size_t)n.count * sizeof *copy) : NULL;
    if (!copy)
        return NAN;
    memcpy(copy, n.at, (size_t)n.count * sizeof *copy);
    qsort(copy, (size_t)n.count, sizeof *copy, by_size);
    double q = quantile_of_sorted(copy, n.count, fraction);
    free(copy);
    return q;
}

double statistics_median(lab_numbers n)
{
    return statistics_quantile(n, 0.5);
}

double statistics_mean(lab_numbers n)
{
    double sum = 0;
    for (int i = 0; i < n.count; i++)
        sum += n.at[i];
    return n.count > 0 ? sum / n.count : NAN;
}

double statistics_min(lab_numbers n)
{
    double least = NAN;
    for (int i = 0; i < n.count; i++)
        least = fmin(least, n.at[i]); /* fmin ignores NAN */
    return least;
}

/* ---- bootstrap ---- */

/* xorshift64*, good enough to draw samples. */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 2685821657736338717u;
}

static double resampled_median(lab_numbers n, double *buffer, uint64_t *state)
{
    for (int i = 0; i < n.count; i++)
        buffer[i] = n.at[(next_random(state) >> 33) % (uint64_t)n.count];
    qsort(buffer, (size_t)n.count, sizeof *buffer, by_size);
    return quantile_of_sorted(buffer, n.count, 0.5);
}

static lab_interval interval_of(double *drawn)
{
    qsort(drawn, DRAWS, sizeof *drawn, by_size);
    return (lab_interval){quantile_of_sorted(drawn, DRAWS, interval_quantiles[0]),
                          quantile_of_sorted(drawn, DRAWS, interval_quantiles[1])};
}

/* Of the median of a, or of the ratio of both medians. */
static lab_interval bootstrap_interval(lab_numbers a, const lab_numbers *b)
{
    lab_interval none = {NAN, NAN};
    int most = b && b->count > a.count ? b->count : a.count;
    if (a.count == 0 || (b && b->count == 0))
        return none;
    double *buffer = malloc((size_t)(most + DRAWS) * sizeof *buffer);
    if (!buffer)
        return none;
    double *drawn = buffer + most;
    uint64_t state = bootstrap_seed;
    for (int i = 0; i < DRAWS; i++) {
        drawn[i] = resampled_median(a, buffer, &state);
        if (b)
            drawn[i] /= resampled_median(*b, buffer, &state);
    }
    lab_interval found = interval_of(drawn);
    free(buffer);
    return found;
}

lab_interval statistics_median_interval(lab_numbers n)
{
    return bootstrap_interval(n, NULL);
}

lab_interval statistics_ratio_interval(lab_numbers numerator, lab_numbers denominator)
{
    return bootstrap_interval(numerator, &denominator);
}

/* To be freed; NULL: not pairs. */
static double *ratios_of(lab_numbers numerator, lab_numbers denominator)
{
    bool are_pairs = numerator.count == denominator.count && numerator.count > 0;
    double *ratios = are_pairs ? malloc((size_t)numerator.count * sizeof *ratios) : NULL;
    for (int i = 0; ratios && i < numerator.count; i++)
        ratios[i] = numerator.at[i] / denominator.at[i];
    return ratios;
}

double statistics_pairs_ratio(lab_numbers numerator, lab_numbers denominator)
{
    double *ratios = ratios_of(numerator, denominator);
    double ratio = ratios ? statistics_median((lab_numbers){ratios, numerator.count})
                          : statistics_median(numerator) / statistics_median(denominator);
    free(ratios);
    return ratio;
}

lab_interval statistics_pairs_interval(lab_numbers numerator, lab_numbers denominator)
{
    double *ratios = ratios_of(numerator, denominator);
    lab_interval found = ratios ? statistics_median_interval((lab_numbers){ratios, numerator.count})
                                : statistics_ratio_interval(numerator, denominator);
    free(ratios);
    return found;
}

/* ---- lines ---- */

typedef struct sums {
    double n, x, y, xx, xy, yy; /* the last three are centred */
} sums;

static sums sums_of(lab_numbers x, lab_numbers y)
{
    sums s = {.n = x.count < y.count ? x.count : y.count};
    for (int i = 0; i < (int)s.n; i++) {
        s.x += x.at[i] / s.n;
        s.y += y.at[i] / s.n;
    }
    for (int i = 0; i < (int)s.n; i++) {
        double dx = x.at[i] - s.x, dy = y.at[i] - s.y;
        s.xx += dx * dx;
        s.xy += dx * dy;
        s.yy += dy * dy;
    }
    return s;
}

double statistics_correlation(lab_numbers x, lab_numbers y)
{
    sums s = sums_of(x, y);
    return s.n >= 2 && s.xx > 0 && s.yy > 0 ? s.xy / sqrt(s.xx * s.yy) : NAN;
}

/* If all y are equal, the line explains everything. */
lab_fit statistics_fit(lab_numbers x, lab_numbers y)
{
    sums s = sums_of(x, y);
    if (s.n < 2 || s.xx <= 0)
        return (lab_fit){NAN, NAN, NAN};
    double slope = s.xy / s.xx;
    double r2 = s.yy > 0 ? s.xy * s.xy / (s.xx * s.yy) : 1;
    return (lab_fit){slope, s.y - slope * s.x, r2};
}

lab_interval statistics_correlation_interval(lab_numbers x, lab_numbers y)
{
    double r = statistics_correlation(x, y);
    int n = x.count < y.count ? x.count : y.count;
    if (n < 4 || isnan(r) || fabs(r) >= 1)
        return (lab_interval){n < 4 ? NAN : r, n < 4 ? NAN : r};
    double z = atanh(r), wide = 1.959964 / sqrt(n - 3);
    return (lab_interval){tanh(z - wide), tanh(z + wide)};
}
