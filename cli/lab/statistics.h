/* Statistics of measured numbers. */
#ifndef CLI_LAB_STATISTICS_H
#define CLI_LAB_STATISTICS_H

typedef struct lab_numbers {
    const double *at;
    int count;
} lab_numbers;

typedef struct lab_interval {
    double low, high;
} lab_interval;

/* All of these are NAN without data. */
double statistics_mean(lab_numbers n);
double statistics_median(lab_numbers n);
double statistics_quantile(lab_numbers n, double fraction); /* 0.25: the lower quartile */
double statistics_min(lab_numbers n);

/* 95 % bootstrap interval of the median.  The draws are the same each time. */
lab_interval statistics_median_interval(lab_numbers n);

/* The same for the ratio of two medians of independent measurements. */
lab_interval statistics_ratio_interval(lab_numbers numerator, lab_numbers denominator);

/* Ratio of measurements in pairs: the i-th numbers of both were measured in the same round.  The
 * median of the ratios of the pairs, and its 95 % bootstrap interval.  If the counts differ, the
 * ratio of the medians. */
double statistics_pairs_ratio(lab_numbers numerator, lab_numbers denominator);
lab_interval statistics_pairs_interval(lab_numbers numerator, lab_numbers denominator);

/* Least-squares line.  r2: the share of the variance of y that it explains. */
typedef struct lab_fit {
    double slope, intercept, r2;
} lab_fit;
lab_fit statistics_fit(lab_numbers x, lab_numbers y);

/* Correlation coefficient, and its 95 % interval by Fisher's transformation (NAN for fewer than
 * 4 points). */
double statistics_correlation(lab_numbers x, lab_numbers y);
lab_interval statistics_correlation_interval(lab_numbers x, lab_numbers y);

#endif
