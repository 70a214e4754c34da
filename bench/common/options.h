/* The words that every program under bench/ understands. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include "bench.h"

enum { WORKERS_MAX = 1024, REPETITIONS_MAX = 1000 };

typedef struct bench_options {
    bench_case spec; /* size and input */
    unsigned workers;
    int repetitions;
} bench_options;

/* Ends the program for -h, and for what it does not understand. */
bench_options bench_options_read(int argc, char **argv);

#endif
