/* Ways to show what was measured. */
#ifndef CLI_SHOW_H
#define CLI_SHOW_H

#include "series.h"

/* A table for people. */
void show_table(const series *all, int n);

/* A line of JSON for each series, with its samples. */
void show_json(const series *all, int n);

/* A picture of the ratios, by gnuplot, in a file that ends in .svg or .png.  NULL, or why there is none.  */
const char *show_plot(const series *all, int n, const char *file);

/* Can such a file be written?  NULL, or why not. */
const char *plot_refuses(const char *file);

#endif
