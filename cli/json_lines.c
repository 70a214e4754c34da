/* The measured series as lines of JSON. */
#include "print.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static void print_number(const char *name, double value)
{
    if (isnan(value))
        printf(",\"%s\":null", name);
    else
        printf(",\"%s\":%.9g", name, value);
}

static void print_metrics(const series *s)
{
    for (int i = 0; i < METRICS_MAX && s->metrics[i].count > 0; i++) {
        const metric *m = &s->metrics[i];
        printf("%s\"%s\":[", i == 0 ? ",\"metrics\":{" : ",", m->name);
        for (int j = 0; j < m->count; j++)
            printf("%s%.9g", j > 0 ? "," : "", m->values[j]);
        printf("]");
    }
    if (s->metrics[0].count > 0)
        printf("}");
}

static void print_line(const series *s)
{
    printf("{\"workload\":\"%s\",\"runtime\":\"%s\"", s->workload->name, s->runtime);
    printf(",\"workers\":%u,\"failed\":%s", s->workers, s->failed ? "true" : "false");
    if (s->count > 0) {
        printf(",\"size\":%ld,\"spawns\":%" PRIu64, s->last.size, s->last.spawns);
        printf(",\"result\":%" PRId64 ",\"peak_kb\":%ld", s->last.result, s->last.peak_kb);
    }
    print_number("median", series_median(s));
    print_number("best", series_best(s));
    print_number("ratio_median", series_median_ratio(s));
    print_number("ratio_best", series_best_ratio(s));
    print_number("ns_per_spawn", series_ns_per_spawn(s));
    print_number("steals", series_steals(s));
    print_metrics(s);
    printf(",\"samples\":[");
    for (int i = 0; i < s->count; i++)
        printf("%s%.9f", i > 0 ? "," : "", s->samples[i]);
    printf("]}\n");
}

void print_json(const series *all, int n)
{
    for (int i = 0; i < n; i++)
        print_line(&all[i]);
}
