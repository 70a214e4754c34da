#include "u_shape.h"

#include <math.h>
#include <stdlib.h>

static int least_of(const lab_numbers *at, int n)
{
    int least = -1;
    for (int i = 0; i < n; i++) {
        double median = statistics_median(at[i]);
        if (!isnan(median) && (least < 0 || median < statistics_median(at[least])))
            least = i;
    }
    return least;
}

/* Free its `at`. */
static lab_numbers one_more(lab_numbers n)
{
    double *copy = malloc((size_t)(n.count > 0 ? n.count : 1) * sizeof *copy);
    for (int i = 0; copy && i < n.count; i++)
        copy[i] = n.at[i] + 1;
    return (lab_numbers){copy, copy ? n.count : 0};
}

/* Ratio of the medians; *surely: its 95 % interval is above 1. */
static double ratio_to_min(lab_numbers end, lab_numbers least, bool *surely)
{
    lab_numbers a = one_more(end), b = one_more(least);
    double ratio = statistics_median(a) / statistics_median(b);
    *surely = end.count > 1 && least.count > 1 && statistics_ratio_interval(a, b).low > 1;
    free((void *)a.at);
    free((void *)b.at);
    return ratio;
}

u_shape u_shape_of(const lab_numbers *at, int n)
{
    u_shape b = {.least = least_of(at, n), .fall = NAN, .rise = NAN};
    if (b.least < 0)
        return b;
    b.fall = ratio_to_min(at[0], at[b.least], &b.falls);
    b.rise = ratio_to_min(at[n - 1], at[b.least], &b.rises);
    return b;
}
