/* The measuring.  One call of each program in turn, round after round, so that what disturbs the machine disturbs
 * all alike. */
#ifndef CLI_MEASURE_H
#define CLI_MEASURE_H

#include "bench_options.h"
#include "series.h"

#include <stdbool.h>

/* Fill the series, of which those of one workload lie side by side.  EXIT_OK; or EXIT_USAGE where the programs do
 * not accept what they are asked for.  *failed becomes true where one of them failed, which is told. */
int measure_all(const bench_options *o, series *all, int n, bool *failed);

/* Is there such a program?  Where there is none, that is told, and *failed becomes true. */
bool measure_can(const workload *w, const char *runtime, bool *failed);

#endif
