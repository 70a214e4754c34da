#include "figures.h"

#include "options.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_FIGURES = 8 };

typedef struct figure {
    const char *name;
    double values[MOST_REPETITIONS];
    int count;
} figure;

static figure all[MOST_FIGURES];

/* The one of that name; a new one where there is none yet. */
static figure *named(const char *name)
{
    for (int i = 0; i < MOST_FIGURES; i++) {
        if (!all[i].name)
            all[i].name = name;
        if (strcmp(all[i].name, name) == 0)
            return &all[i];
    }
    abort();
}

void figures_add(const char *name, double value)
{
    figure *f = named(name);
    if (f->count == MOST_REPETITIONS)
        abort();
    f->values[f->count++] = value;
}

void figures_tell(FILE *out)
{
    for (int i = 0; i < MOST_FIGURES && all[i].name; i++) {
        fprintf(out, "%s\"%s\":[", i == 0 ? ",\"figures\":{" : ",", all[i].name);
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

void figures_per(stopwatch spent, double operations)
{
    figures_add("cpu_ns", spent.cpu / operations);
    figures_add("wall_ns", spent.wall / operations);
}
