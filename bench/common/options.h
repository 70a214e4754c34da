/* The command-line options of every benchmark program. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include "bench.h"

enum { WORKERS_MAX = 1024, REPETITIONS_MAX = 1000 };

typedef struct bench_options {
    bench_case spec; /* size and input */
    unsigned workers;
    int repetitions;
} bench_options;

/* Exits with 0 after -h and with 2 after an invalid argument. */
bench_options bench_options_read(int argc, char **argv);

#endif
