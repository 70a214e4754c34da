/* Output of measured series. */
#ifndef CLI_PRINT_H
#define CLI_PRINT_H

#include "series.h"

/* As a table. */
void print_table(const series *all, int n);

/* As a line of JSON for each series, with its samples. */
void print_json(const series *all, int n);

/* A number in a column; NAN: a dash. */
void print_cell(double value, int width, int digits);

/* The table of jobs: rows of JOB_COLUMNS series. */
void print_jobs(const series *all, int n);

/* The table of fibers, and below it the missing programs.  The goals do not apply to quick runs. */
void print_fibers(const series *all, int n, const char *missing, bool is_quick);

/* The table of scale-out on this number of CPUs, and below it the missing program. */
void print_scale_out(const series *all, int n, unsigned cpus, const char *missing);

/* The kind of a plot. */
typedef struct plot_of {
    const contender *bars; /* one bar each; terminated by an entry without a name */
    const char *title;
    const char *base;    /* name of the baseline, the line at 1 */
    bool base_is_serial; /* then more workers should be faster */
} plot_of;
extern const plot_of plot_of_workloads, plot_of_jobs;

/* Plot the ratios into a file that ends in .svg or .png.  Returns NULL, or why it failed. */
const char *draw_plot(const series *all, int n, const plot_of *of, const char *file);

#endif
