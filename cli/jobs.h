/* filch bench jobs: a table of its own, with a job system of the classical kind beside Filch. */
#ifndef CLI_JOBS_H
#define CLI_JOBS_H

#include "bench_options.h"

/* How to end. */
int bench_jobs(const bench_options *o);

#endif
