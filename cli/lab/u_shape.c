/* Test whether medians fall and then rise, for steals.c. */
#include "u_shape.h"

#include <math.h>
#include <stdlib.h>

static int min_index_of(const lab_numbers *at, int n)
{
    int min_index = -1;
    for (int i = 0; i < n; i++) {
        double median = statistics_median(at[i]);
        if (!isnan(median) && (min_index < 0 || median < statistics_median(at[min_index])))
            min_index = i;
    }
    return min_index;
}

/* Free its `at`. */
static lab_numbers plus_one(lab_numbers n)
{
    double *copy = malloc((size_t)(n.count > 0 ? n.count : 1) * sizeof *copy);
    for (int i = 0; copy && i < n.count; i++)
        copy[i] = n.at[i] + 1;
    return (lab_numbers){copy, copy ? n.count : 0};
}

/* Ratio of the medians; *is_significant: its 95 % interval is above 1. */
static double ratio_to_min(lab_numbers end, lab_numbers min, bool *is_significant)
{
    lab_numbers a = plus_one(end), b = plus_one(min);
    double ratio = statistics_median(a) / statistics_median(b);
    *is_significant = end.count > 1 && min.count > 1 && statistics_ratio_interval(a, b).low > 1;
    free((void *)a.at);
    free((void *)b.at);
    return ratio;
}

u_shape u_shape_of(const lab_numbers *at, int n)
{
    u_shape b = {.min_index = min_index_of(at, n), .fall = NAN, .rise = NAN};
    if (b.min_index < 0)
        return b;
    b.fall = ratio_to_min(at[0], at[b.min_index], &b.falls);
    b.rise = ratio_to_min(at[n - 1], at[b.min_index], &b.rises);
    return b;
}
