/* The tables of `filch bench scale-out`: workloads, their metrics, numbers of workers. */
#include "scale_out_rows.h"

#include <stdio.h>
#include <string.h>

const char scale_out_name[] = "scale-out";

const unsigned scale_out_workers[] = {1, 2, 4, 8, 16, 64, 0};

const workload scale_out_workloads[] = {
    {"fib", "fib", NULL, 1, "fib(40) by two recursive calls: only spawns"},
    {"tree", "tree", NULL, 3, "a tree of 300 x 300 x 300 nodes: many outstanding spawns"},
    {"loop", "loop", NULL, 3, "2,000 loops over 262,144 numbers, one after the other"},
    {"sort-uniform", "sort", "uniform", 1, "merge sort of 64 MB of uniform numbers"},
    {"fibers-buffered-4", "fibers", "buffered-4", 1, "a channel of capacity 128, 4 to 4"},
    {"http-64", "http", "64", 1, "short HTTP responses over 64 open connections"},
    {0},
};

/* In the order of scale_out_workloads. */
static const scale_out_row rows[] = {
    {"fib", "fib, ms", NULL, "cpu_ms"},
    {"tree", "tree, ms", NULL, "cpu_ms"},
    {"loop", "loop, ms", NULL, "cpu_ms"},
    {"sort", "sort, ms", NULL, "cpu_ms"},
    {"channel", "channel, ns per item", "wall_ns", "cpu_ns"},
    {"http", "http, us per request", "wall_us", "cpu_us"},
};

const scale_out_row *scale_out_row_of(const workload *w)
{
    return &rows[w - scale_out_workloads];
}

const char *scale_out_arg(const workload *w)
{
    return scale_out_row_of(w)->arg;
}

const workload *scale_out_named(const char *word)
{
    for (const workload *w = scale_out_workloads; w->name; w++)
        if (strcmp(scale_out_arg(w), word) == 0)
            return w;
    return NULL;
}

void scale_out_list(char *out, size_t capacity)
{
    size_t used = 0;
    out[0] = '\0';
    for (const workload *w = scale_out_workloads; w->name && used < capacity; w++)
        used += (size_t)snprintf(out + used, capacity - used, "%s%s", used > 0 ? ", " : "",
                                 scale_out_arg(w));
}
