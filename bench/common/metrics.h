/* Figures besides the time of a repetition: CPU per operation, memory, lateness.  Each has a name and one value for
 * each repetition, and is told as "metrics":{"cpu_ns":[1.5,1.4],...}. */
#ifndef BENCH_METRICS_H
#define BENCH_METRICS_H

#include <stdio.h>

void metrics_add(const char *name, double value);

/* With a comma before it; nothing where there are none. */
void metrics_print(FILE *out);

/* Nanoseconds: on the CPUs, of all threads together, and by the clock on the wall. */
typedef struct stopwatch {
    double cpu, wall;
} stopwatch;

stopwatch stopwatch_start(void);
/* How long since. */
stopwatch stopwatch_read(stopwatch since);

/* Add cpu_ns and wall_ns, each divided by the number of operations. */
void metrics_add_per(stopwatch spent, double operations);

#endif
