/* Measurements: a series of samples for each workload, runtime and number of workers. */
#ifndef CLI_SERIES_H
#define CLI_SERIES_H

#include "catalog.h"
#include "programs.h"

enum { REPEATS_MAX = 1000 };

/* A named value that a program reports besides its times, one for each sample. */
typedef struct metric {
    char name[METRIC_NAME_SIZE];
    double *values;
    int count;
} metric;

typedef struct series {
    const workload *workload;
    const char *runtime;
    const struct series *serial; /* what it is compared with; itself for a serial one */
    unsigned workers;
    int rounds;  /* 0: as many as the options say */
    bool failed; /* one of its calls gave no report; no more calls are made */
    report last; /* of the newest call; its samples are among those below */
    double *samples;
    int count, capacity;
    double *steals; /* one for each call, where the runtime counts them */
    int steals_count;
    metric metrics[METRICS_MAX]; /* terminated by an entry without a name, unless full */
} series;

/* Add the report of a call.  Returns 0 or -ENOMEM. */
int series_add(series *s, const report *r);
void series_free(series *s);

/* The following are NAN without samples. */
double series_median(const series *s);
double series_best(const series *s);
double series_median_ratio(const series *s); /* to the serial one */
double series_best_ratio(const series *s);
double series_ns_per_spawn(const series *s); /* best time / spawns */
double series_steals(const series *s);       /* median number of successful steals */

/* Of the metric with this name. */
double series_metric_median(const series *s, const char *name);
double series_metric_best(const series *s, const char *name); /* the min */

#endif
