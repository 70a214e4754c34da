/* The arguments of `filch bench`, and its two other tables. */
#ifndef CLI_BENCH_OPTIONS_H
#define CLI_BENCH_OPTIONS_H

#include "catalog.h"

#include <stdbool.h>

enum { CHOSEN_MAX = 32 };

typedef struct bench_options {
    const workload *workloads[CHOSEN_MAX]; /* these lists are terminated by NULL or 0 */
    const contender *runtimes[CHOSEN_MAX];
    unsigned workers[CHOSEN_MAX];
    int repeat;
    long seconds; /* for one call */
    const char *size, *plot;
    bool json, quick;
    bool jobs;   /* the table of jobs instead of workloads */
    bool fibers; /* the table of fibers; workloads has its cases */
} bench_options;

/* Exits for --help and for usage errors. */
bench_options bench_options_read(int argc, char **argv);

/* filch bench jobs, fibers, run.  Return the exit code.  jobs.c, fibers.c, bench_run.c */
int bench_jobs(const bench_options *o);
int bench_fibers(const bench_options *o);
int bench_run(int argc, char **argv);

#endif
