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

/* ---- figures ---- */

/* The figure with this name, or an unused one; NULL: all are used. */
static figure *figure_of(series *s, const char *name)
{
    for (int i = 0; i < FIGURES_MAX; i++)
        if (s->figures[i].count == 0 || strcmp(s->figures[i].name, name) == 0)
            return &s->figures[i];
    return NULL;
}

static int add_figure(series *s, const char *member, int n)
{
    char name[FIGURE_NAME] = "";
    json_string(member, name, sizeof name);
    figure *f = figure_of(s, name);
    double *values = f ? realloc(f->values, (size_t)(f->count + n) * sizeof *values) : NULL;
    if (!values)
        return -ENOMEM;
    f->values = values;
    memcpy(f->name, name, sizeof name);
    for (const char *v = json_begin(json_value(member)); v; v = json_next(v))
        json_number(v, &values[f->count++]);
    return 0;
}

static int add_figures(series *s, const report *r)
{
    int e = 0;
    for (const char *m = r->figures ? json_begin(r->figures) : NULL; m && e == 0; m = json_next(m))
        e = add_figure(s, m, r->count);
    return e;
}

static const figure *figure_named(const series *s, const char *name)
{
    for (int i = 0; i < FIGURES_MAX && s->figures[i].count > 0; i++)
        if (strcmp(s->figures[i].name, name) == 0)
            return &s->figures[i];
    return NULL;
}

static double min_of(const double *values, int n)
{
    double best = NAN;
    for (int i = 0; i < n; i++)
        best = fmin(best, values[i]); /* fmin ignores NAN */
    return best;
}

double series_figure_median(const series *s, const char *name)
{
    const figure *f = figure_named(s, name);
    return f ? median_of(f->values, f->count) : NAN;
}

double series_figure_best(const series *s, const char *name)
{
    const figure *f = figure_named(s, name);
    return f ? min_of(f->values, f->count) : NAN;
}

/* ---- samples ---- */

int series_add(series *s, const report *r)
{
    int e = series_reserve(s, r->count);
    if (e == 0)
        e = add_figures(s, r);
    if (e < 0)
        return e;
    memcpy(s->samples + s->count, r->samples, (size_t)r->count * sizeof *s->samples);
    s->count += r->count;
    if (r->counters)
        s->steals[s->steals_count++] = (counter_sum(r->counters, "steals_single") +
                                        counter_sum(r->counters, "steals_multiple")) /
                                       r->count;
    s->last = *r;
    s->last.counters = s->last.figures = NULL; /* they point into the child's output */
    return 0;
}

void series_free(series *s)
{
    free(s->samples);
    free(s->steals);
    s->samples = s->steals = NULL;
    for (int i = 0; i < FIGURES_MAX; i++)
        free(s->figures[i].values);
    memset(s->figures, 0, sizeof s->figures);
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
