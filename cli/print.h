/* Ways to show what was measured. */
#ifndef CLI_PRINT_H
#define CLI_PRINT_H

#include "series.h"

/* A table for people. */
void print_table(const series *all, int n);

/* A line of JSON for each series, with its samples. */
void print_json(const series *all, int n);

/* A number in a column, or a dash. */
void print_cell(double value, int width, int digits);

/* The table of jobs: rows of JOB_COLUMNS series. */
void print_jobs(const series *all, int n);

/* The table of fibers, and below it who is missing; the goals are not those of a quick look. */
void print_fibers(const series *all, int n, const char *missing, bool is_quick);

/* What a picture is of. */
typedef struct plot_of {
    const contender *bars; /* a colour for each; ended by one without a name */
    const char *title;
    const char *base;    /* what they are compared with, the line at 1 */
    bool base_is_serial; /* so more workers should be faster */
} plot_of;
extern const plot_of plot_of_workloads, plot_of_jobs;

/* A picture of the ratios, by gnuplot, in a file that ends in .svg or .png.  NULL, or why there is none.  */
const char *draw_plot(const series *all, int n, const plot_of *of, const char *file);

#endif
