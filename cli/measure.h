/* Measurement: in each round one call of each program, so that disturbances of the machine
 * affect all of them. */
#ifndef CLI_MEASURE_H
#define CLI_MEASURE_H

#include "bench_options.h"
#include "series.h"

#include <stdbool.h>

/* Fill the series.  Those of one workload are adjacent.  Returns EXIT_OK, or EXIT_USAGE if the
 * programs reject their arguments. *failed is set if a program failed, after a message. */
int measure_all(const bench_options *o, series *all, int n, bool *failed);

/* Does the program exist?  If not, prints a message and sets *failed. */
bool measure_can(const workload *w, const char *runtime, bool *failed);

#endif
