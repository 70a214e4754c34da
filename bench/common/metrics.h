/* Metrics besides the time of a repetition: CPU time per operation, memory, timer lateness.
 * Each has a name and one value per repetition.  JSON: "metrics":{"cpu_ns":[1.5,1.4],...} */
#ifndef BENCH_METRICS_H
#define BENCH_METRICS_H

#include <stdio.h>

void metrics_add(const char *name, double value);

/* Write the JSON member, preceded by a comma.  Writes nothing if there are no metrics. */
void metrics_print(FILE *out);

/* Nanoseconds: CPU time of all threads, and wall-clock time. */
typedef struct stopwatch {
    double cpu, wall;
} stopwatch;

stopwatch stopwatch_start(void);
/* Time elapsed since `since`. */
stopwatch stopwatch_read(stopwatch since);

/* Add the metrics cpu_ns and wall_ns, each divided by the number of operations. */
void metrics_add_per(stopwatch spent, double operations);

#endif
