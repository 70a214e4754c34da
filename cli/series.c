/* Samples and metrics of one workload, runtime and number of workers; medians and ratios. */
#include "series.h"

#include "json.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts the values. */
static double median_sorting(double *values, int n)
{
    if (n == 0)
        return NAN;
    qsort(values, (size_t)n, sizeof *values, by_size);
    return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static double median_of(const double *values, int n)
{
    double *copy = malloc((size_t)(n > 0 ? n : 1) * sizeof *copy);
    if (!copy)
        return NAN;
    if (n > 0)
        memcpy(copy, values, (size_t)n * sizeof *copy);
    double m = median_sorting(copy, n);
    free(copy);
    return m;
}

/* The sum of a counter over all workers; 0: no such counter. */
static double counter_sum(const char *counters, const char *name)
{
    double value;
    const char *all = json_member(counters, name);
    const char *sum = all ? json_begin(all) : NULL;
    return json_number(sum, &value) ? value : 0;
}

static int series_reserve(series *s, int more)
{
    if (s->count + more <= s->capacity)
        return 0;
    int capacity = 2 * s->capacity + more;
    double *samples = realloc(s->samples, (size_t)capacity * sizeof *samples);
    double *steals = samples ? realloc(s->steals, (size_t)capacity * sizeof *steals) : NULL;
    if (samples)
        s->samples = samples;
    if (!steals)
        return -ENOMEM;
    s->steals = steals;
    s->capacity = capacity;
    return 0;
}

/* ---- metrics ---- */

/* The metric with this name, or an unused one; NULL: all are used. */
static metric *metric_slot(series *s, const char *name)
{
    for (int i = 0; i < METRICS_MAX; i++)
        if (s->metrics[i].count == 0 || strcmp(s->metrics[i].name, name) == 0)
            return &s->metrics[i];
    return NULL;
}

static int series_add_metric(series *s, const char *member, int n)
{
    char name[METRIC_NAME_SIZE] = "";
    json_string(member, name, sizeof name);
    metric *m = metric_slot(s, name);
    double *values = m ? realloc(m->values, (size_t)(m->count + n) * sizeof *values) : NULL;
    if (!values)
        return -ENOMEM;
    m->values = values;
    memcpy(m->name, name, sizeof name);
    for (const char *v = json_begin(json_value(member)); v; v = json_next(v))
        json_number(v, &values[m->count++]);
    return 0;
}

static int series_add_metrics(series *s, const report *r)
{
    int e = 0;
    for (const char *m = r->metrics ? json_begin(r->metrics) : NULL; m && e == 0; m = json_next(m))
        e = series_add_metric(s, m, r->count);
    return e;
}

static const metric *metric_named(const series *s, const char *name)
{
    for (int i = 0; i < METRICS_MAX && s->metrics[i].count > 0; i++)
        if (strcmp(s->metrics[i].name, name) == 0)
            return &s->metrics[i];
    return NULL;
}

static double min_of(const double *values, int n)
{
    double best = NAN;
    for (int i = 0; i < n; i++)
        best = fmin(best, values[i]); /* fmin ignores NAN */
    return best;
}

double series_metric_median(const series *s, const char *name)
{
    const metric *m = metric_named(s, name);
    return m ? median_of(m->values, m->count) : NAN;
}

double series_metric_best(const series *s, const char *name)
{
    const metric *m = metric_named(s, name);
    return m ? min_of(m->values, m->count) : NAN;
}

/* ---- samples ---- */

int series_add(series *s, const report *r)
{
    int e = series_reserve(s, r->count);
    if (e == 0)
        e = series_add_metrics(s, r);
    if (e < 0)
        return e;
    memcpy(s->samples + s->count, r->samples, (size_t)r->count * sizeof *s->samples);
    s->count += r->count;
    if (r->counters)
        s->steals[s->steals_count++] = (counter_sum(r->counters, "steals_single") +
                                        counter_sum(r->counters, "steals_multiple")) /
                                       r->count;
    s->last = *r;
    s->last.counters = s->last.metrics = NULL; /* they point into the child's output */
    return 0;
}

void series_free(series *s)
{
    free(s->samples);
    free(s->steals);
    s->samples = s->steals = NULL;
    for (int i = 0; i < METRICS_MAX; i++)
        free(s->metrics[i].values);
    memset(s->metrics, 0, sizeof s->metrics);
}

double series_median(const series *s)
{
    return median_of(s->samples, s->count);
}

double series_best(const series *s)
{
    return min_of(s->samples, s->count);
}

double series_median_ratio(const series *s)
{
    return s->serial ? series_median(s) / series_median(s->serial) : NAN;
}

double series_best_ratio(const series *s)
{
    return s->serial ? series_best(s) / series_best(s->serial) : NAN;
}

double series_ns_per_spawn(const series *s)
{
    return s->last.spawns > 0 ? series_best(s) * 1e9 / (double)s->last.spawns : NAN;
}

double series_steals(const series *s)
{
    return median_of(s->steals, s->steals_count);
}
