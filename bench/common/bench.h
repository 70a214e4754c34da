/* The interface between the three parts of a benchmark program.
 *
 * 1. The workload: inputs, sizes and the expected result.  bench/<workload>/<workload>.c
 * 2. The workload written for one runtime.  serial.c, filch.c, tbb.cpp or omp.c beside it
 * 3. Start and stop of that runtime.  runtime_*.c here
 *
 * main.c times each repetition, checks its result and prints one line of JSON.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One case of a workload: the requested size and input, and what prepare computed. */
typedef struct bench_case {
    long size;
    const char *input; /* name of one of the workload's inputs */
    int64_t expected;  /* the result, computed by another algorithm than the timed one */
    uint64_t spawns;   /* spawns of one repetition; 0 if they vary from run to run */
} bench_case;

/* An input of a workload and the range of its size (-n). */
typedef struct bench_input {
    const char *name;    /* NULL if the workload has only one input */
    const char *size_is; /* the meaning of -n, for messages */
    long min, max, standard, quick;
} bench_input;

typedef struct bench_workload {
    const char *name;
    const bench_input *inputs;              /* the last one has size_is NULL */
    size_t stack_size;                      /* bytes its deepest task needs; 0: the default */
    const char *(*prepare)(bench_case *c);  /* once; returns NULL or an error text */
    void (*reset)(void);                    /* before each repetition, not timed; may be NULL */
    int64_t (*digest)(const bench_case *c); /* result from memory; NULL: use that of bench_run */
    bool has_metrics; /* bench_run adds metrics; otherwise main.c adds cpu_ms, of all threads */
} bench_workload;

/* Part 1. */
extern const bench_workload bench_the_workload;

/* Part 2: run one repetition.  Returns the result, or 0 if the workload has a digest function. */
int64_t bench_run(const bench_case *c);

/* Part 3.  start returns NULL, or why the runtime cannot run with this number of workers.
 * report writes further members of the JSON line, each preceded by a comma. */
extern const char *const bench_runtime;
const char *bench_runtime_start(unsigned workers);
void bench_runtime_report(FILE *out);
void bench_runtime_stop(void);

#ifdef __cplusplus
}
#endif

#endif
