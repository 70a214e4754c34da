/* All that was measured: a series of samples for each workload, runtime and number of workers. */
#ifndef CLI_SERIES_H
#define CLI_SERIES_H

#include "catalog.h"
#include "programs.h"

enum { REPEATS_MAX = 1000 };

/* What a program tells besides its times, under a name: a value for each sample. */
typedef struct figure {
    char name[FIGURE_NAME];
    double *values;
    int count;
} figure;

typedef struct series {
    const workload *workload;
    const char *runtime;
    const struct series *serial; /* what it is compared with; itself for a serial one */
    unsigned workers;
    bool failed; /* one of its calls gave no report; no more calls are made */
    report last; /* of the newest call; its samples are among those below */
    double *samples;
    int count, capacity;
    double *steals; /* one for each call, where the runtime counts them */
    int steals_count;
    figure figures[FIGURES_MAX]; /* ended by one without a name, where there is capacity */
} series;

/* Add what a call brought.  0 or -ENOMEM. */
int series_add(series *s, const report *r);
void series_free(series *s);

/* The following are NAN where there is nothing to tell. */
double series_median(const series *s);
double series_best(const series *s);
double series_median_ratio(const series *s); /* to the serial one */
double series_best_ratio(const series *s);
double series_ns_per_spawn(const series *s); /* best time by spawns */
double series_steals(const series *s);       /* the median of visits that brought work */

/* Of the figure of that name. */
double series_figure_median(const series *s, const char *name);
double series_figure_best(const series *s, const char *name); /* the least */

#endif
