/* What can be said of numbers that were measured. */
#ifndef CLI_LAB_NUMBERS_H
#define CLI_LAB_NUMBERS_H

typedef struct lab_numbers {
    const double *at;
    int count;
} lab_numbers;

typedef struct lab_interval {
    double low, high;
} lab_interval;

/* All of these are NAN where there is nothing to tell. */
double numbers_mean(lab_numbers n);
double numbers_median(lab_numbers n);
double numbers_quantile(lab_numbers n, double part); /* 0.25: the lower quartile */
double numbers_least(lab_numbers n);

/* Where 95 of 100 medians of numbers drawn from these with repetition lie.  The draws are the same each time. */
lab_interval numbers_median_between(lab_numbers n);

/* The same of the ratio of two medians, of numbers that were measured apart. */
lab_interval numbers_ratio_between(lab_numbers above, lab_numbers below);

/* How many times the one is the other, of numbers that were measured in turns: each is compared with the one of its turn, which had the
 * same to bear, and it is the median of these ratios, and where 95 of 100 such medians lie.  Where there are not as many of both, some turn
 * is missing, and it is the ratio of the medians. */
double numbers_turns_ratio(lab_numbers above, lab_numbers below);
lab_interval numbers_turns_between(lab_numbers above, lab_numbers below);

/* A straight line through points by least squares.  r2: the part of the spread of y that it explains. */
typedef struct lab_fit {
    double slope, at_zero, r2;
} lab_fit;
lab_fit numbers_fit(lab_numbers x, lab_numbers y);

/* The coefficient of correlation, and where it lies with 95 of 100 by Fisher's transformation (NAN for less than 4 points). */
double numbers_correlation(lab_numbers x, lab_numbers y);
lab_interval numbers_correlation_between(lab_numbers x, lab_numbers y);

#endif
