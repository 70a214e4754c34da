/* Collect metrics, and print them as a member of the program's JSON line. */
#include "metrics.h"

#include "options.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { METRICS_MAX = 8 };

typedef struct metric {
    const char *name;
    double values[REPETITIONS_MAX];
    int count;
} metric;

static metric all[METRICS_MAX];

/* The metric with this name.  Creates it if it does not exist. */
static metric *metric_named(const char *name)
{
    for (int i = 0; i < METRICS_MAX; i++) {
        if (!all[i].name)
            all[i].name = name;
        if (strcmp(all[i].name, name) == 0)
            return &all[i];
    }
    abort();
}

void metrics_add(const char *name, double value)
{
    metric *m = metric_named(name);
    if (m->count == REPETITIONS_MAX)
        abort();
    m->values[m->count++] = value;
}

void metrics_print(FILE *out)
{
    for (int i = 0; i < METRICS_MAX && all[i].name; i++) {
        fprintf(out, "%s\"%s\":[", i == 0 ? ",\"metrics\":{" : ",", all[i].name);
        for (int j = 0; j < all[i].count; j++)
            fprintf(out, "%s%.6g", j > 0 ? "," : "", all[i].values[j]);
        fprintf(out, "]");
    }
    if (all[0].name)
        fprintf(out, "}");
}

static double ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

stopwatch stopwatch_start(void)
{
    return (stopwatch){ns(CLOCK_PROCESS_CPUTIME_ID), ns(CLOCK_MONOTONIC)};
}

stopwatch stopwatch_read(stopwatch since)
{
    stopwatch now = stopwatch_start();
    return (stopwatch){now.cpu - since.cpu, now.wall - since.wall};
}

void metrics_add_per(stopwatch spent, double operations)
{
    metrics_add("cpu_ns", spent.cpu / operations);
    metrics_add("wall_ns", spent.wall / operations);
}
