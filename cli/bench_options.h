/* The arguments of `filch bench`, and its other tables. */
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
    bool repeat_is_usual; /* without --repeat and --quick: long cases have fewer rounds */
    long seconds;         /* for one call */
    const char *size, *plot;
    bool json, quick;
    const char *table; /* jobs_name, fibers_name, scale_out_name; NULL: the table of workloads */
} bench_options;

/* Exits for --help and for usage errors. */
bench_options bench_options_read(int argc, char **argv);

/* filch bench jobs, fibers, scale-out, run.  Return the exit code.
 * jobs.c, fibers.c, scale_out.c, bench_run.c */
int bench_jobs(const bench_options *o);
int bench_fibers(const bench_options *o);
int bench_scale_out(const bench_options *o);
int bench_run(int argc, char **argv);

#endif
