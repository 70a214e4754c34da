/* What can be said of numbers that were measured. */
#ifndef CLI_LAB_STATISTICS_H
#define CLI_LAB_STATISTICS_H

typedef struct lab_numbers {
    const double *at;
    int count;
} lab_numbers;

typedef struct lab_interval {
    double low, high;
} lab_interval;

/* All of these are NAN where there is nothing to tell. */
double statistics_mean(lab_numbers n);
double statistics_median(lab_numbers n);
double statistics_quantile(lab_numbers n, double part); /* 0.25: the lower quartile */
double statistics_min(lab_numbers n);

/* Where 95 of 100 medians of numbers drawn from these with repetition lie.  The draws are the same each time. */
lab_interval statistics_median_interval(lab_numbers n);

/* The same of the ratio of two medians, of numbers that were measured apart. */
lab_interval statistics_ratio_interval(lab_numbers above, lab_numbers below);

/* How many times the one is the other, of numbers that were measured in turns: each is compared with the one of its turn, which had the
 * same to bear, and it is the median of these ratios, and where 95 of 100 such medians lie.  Where there are not as many of both, some turn
 * is missing, and it is the ratio of the medians. */
double statistics_pairs_ratio(lab_numbers above, lab_numbers below);
lab_interval statistics_pairs_interval(lab_numbers above, lab_numbers below);

/* A straight line through points by least squares.  r2: the part of the spread of y that it explains. */
typedef struct lab_fit {
    double slope, at_zero, r2;
} lab_fit;
lab_fit statistics_fit(lab_numbers x, lab_numbers y);

/* The coefficient of correlation, and where it lies with 95 of 100 by Fisher's transformation (NAN for less than 4 points). */
double statistics_correlation(lab_numbers x, lab_numbers y);
lab_interval statistics_correlation_interval(lab_numbers x, lab_numbers y);

#endif
