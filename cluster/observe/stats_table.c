/* Print the counters of all ranks, when the cluster stops. */
#include "observe/stats_table.h"

#include <filch/message.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_SIZE 160

typedef struct counter {
    const char *name;
    size_t offset;
} counter;

#define PROTOCOL(name)                                                                             \
    {                                                                                              \
#name, offsetof(fi_rank_stats, protocol) + offsetof(fi_rank_counters, name)                \
    }
#define COUNTER(name)                                                                              \
    {                                                                                              \
#name, offsetof(fi_rank_stats, name)                                                       \
    }
static const counter counters[] = {
    COUNTER(items),      COUNTER(lanes_started), PROTOCOL(asks),         PROTOCOL(lifes),
    PROTOCOL(refusals),  PROTOCOL(loots_in),     PROTOCOL(gifts_in),     PROTOCOL(bytes_in),
    PROTOCOL(loots_out), PROTOCOL(gifts_out),    PROTOCOL(bytes_out),    PROTOCOL(waves),
    PROTOCOL(hungry_ns), COUNTER(wakeups),       COUNTER(thread_cpu_ns), COUNTER(run_ns),
    COUNTER(runs),
};

static_assert(sizeof counters / sizeof *counters ==
                  offsetof(fi_rank_stats, workers) / sizeof(uint64_t),
              "each counter has a line");

static uint64_t value_of(const fi_rank_stats *row, const counter *c)
{
    uint64_t value;

    memcpy(&value, (const char *)row + c->offset, sizeof value);
    return value;
}

static int compare_values(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Sorts the values. */
static uint64_t median(uint64_t *values, unsigned n)
{
    uint64_t low, high;

    qsort(values, n, sizeof *values, compare_values);
    low = values[(n - 1) / 2];
    high = values[n / 2];
    return low + (high - low) / 2;
}

/* A line, from the values of all ranks.  Of several ranks with the same value, the first is
 * named. */
static void print_row(const char *name, uint64_t *values, unsigned ranks)
{
    unsigned min = 0, max = 0;
    uint64_t sum = 0, min_value, max_value;
    char line[LINE_SIZE];

    for (unsigned i = 0; i < ranks; i++) {
        sum += values[i];
        min = values[i] < values[min] ? i : min;
        max = values[i] > values[max] ? i : max;
    }
    min_value = values[min];
    max_value = values[max];
    snprintf(line, sizeof line,
             "%-28s %18" PRIu64 " %16" PRIu64 " %5u %16" PRIu64 " %16" PRIu64 " %5u", name, sum,
             min_value, min, median(values, ranks), max_value, max);
    filch_message_(FILCH_LEVEL_INFO, line);
}

static void print_cluster_rows(const fi_rank_stats *rows, unsigned ranks, uint64_t *values)
{
    for (size_t c = 0; c < sizeof counters / sizeof *counters; c++) {
        for (unsigned i = 0; i < ranks; i++)
            values[i] = value_of(&rows[i], &counters[c]);
        print_row(counters[c].name, values, ranks);
    }
}

/* The workers of a single rank have a table of their own (FILCH_STATS of the runtime). */
static void print_worker_rows(const fi_rank_stats *rows, unsigned ranks, uint64_t *values)
{
    const char *name;

    for (unsigned c = 0; ranks > 1 && (name = filch_counter_name(c)) != NULL; c++) {
        for (unsigned i = 0; i < ranks; i++)
            values[i] = filch_counter_value(&rows[i].workers, c);
        print_row(name, values, ranks);
    }
}

static void print_head(const fi_rank_stats *rows, unsigned ranks)
{
    uint64_t run_ns = 0;
    char line[LINE_SIZE];

    for (unsigned i = 0; i < ranks; i++)
        run_ns = rows[i].run_ns > run_ns ? rows[i].run_ns : run_ns;
    snprintf(line, sizeof line, "counters of %u rank%s, %" PRIu64 " run%s, %.3f s", ranks,
             ranks == 1 ? "" : "s", rows[0].runs, rows[0].runs == 1 ? "" : "s",
             (double)run_ns * 1e-9);
    filch_message_(FILCH_LEVEL_INFO, line);
    snprintf(line, sizeof line, "%-28s %18s %16s %5s %16s %16s %5s", "", "all", "min", "rank",
             "median", "max", "rank");
    filch_message_(FILCH_LEVEL_INFO, line);
}

void fi_stats_table_print(const fi_rank_stats *rows, unsigned ranks)
{
    uint64_t *values = malloc(ranks * sizeof *values);

    if (ranks > 0 && values) {
        print_head(rows, ranks);
        print_cluster_rows(rows, ranks, values);
        print_worker_rows(rows, ranks, values);
    } else if (ranks > 0) {
        filch_message_(FILCH_LEVEL_WARNING, "FILCH_STATS: no memory for the counters of the ranks");
    }
    free(values);
}
