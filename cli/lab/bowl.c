#include "bowl.h"

#include <math.h>
#include <stdlib.h>

static int least_of(const lab_numbers *at, int n)
{
    int least = -1;
    for (int i = 0; i < n; i++) {
        double median = numbers_median(at[i]);
        if (!isnan(median) && (least < 0 || median < numbers_median(at[least])))
            least = i;
    }
    return least;
}

/* To be freed by its `at`. */
static lab_numbers one_more(lab_numbers n)
{
    double *copy = malloc((size_t)(n.count > 0 ? n.count : 1) * sizeof *copy);
    for (int i = 0; copy && i < n.count; i++)
        copy[i] = n.at[i] + 1;
    return (lab_numbers){copy, copy ? n.count : 0};
}

/* How much higher; *surely: 95 of 100. */
static double higher(lab_numbers end, lab_numbers least, bool *surely)
{
    lab_numbers a = one_more(end), b = one_more(least);
    double ratio = numbers_median(a) / numbers_median(b);
    *surely = end.count > 1 && least.count > 1 && numbers_ratio_between(a, b).low > 1;
    free((void *)a.at);
    free((void *)b.at);
    return ratio;
}

bowl bowl_of(const lab_numbers *at, int n)
{
    bowl b = {.least = least_of(at, n), .fall = NAN, .rise = NAN};
    if (b.least < 0)
        return b;
    b.fall = higher(at[0], at[b.least], &b.falls);
    b.rise = higher(at[n - 1], at[b.least], &b.rises);
    return b;
}
