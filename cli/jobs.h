/* filch bench jobs: the table of a classical job system compared with Filch. */
#ifndef CLI_JOBS_H
#define CLI_JOBS_H

#include "bench_options.h"

/* Returns the exit code. */
int bench_jobs(const bench_options *o);

#endif
