/* What every program under bench/ is made of.
 *
 * A program is three parts linked together: a workload (its inputs, its sizes, the answer it must
 * give: bench/<workload>/<workload>.c), that workload written for one runtime (serial.c, filch.c,
 * tbb.cpp, omp.c beside it), and the start and stop of that runtime (runtime_*.c here).  main.c here
 * times the repetitions, checks the answer of each, and prints one line of JSON.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One case of a workload: what was asked for, and what prepare found out about it. */
typedef struct bench_case {
    long size;
    const char *input; /* the name of one of the workload's inputs */
    int64_t expected;  /* the answer, by another way than the one that is timed */
    uint64_t spawns;   /* of the task programs; 0 where it depends on the run */
} bench_case;

/* What a workload can be run on, and how large: -n is from least to most, or usual, or quick. */
typedef struct bench_input {
    const char *name;    /* NULL where the workload has but one */
    const char *size_is; /* what -n means, for messages */
    long min, max, standard, quick;
} bench_input;

typedef struct bench_workload {
    const char *name;
    const bench_input *inputs;              /* ended by one whose size means nothing (NULL) */
    size_t stack_size;                      /* bytes that its deepest task needs; 0: not many */
    const char *(*prepare)(bench_case *c);  /* once; NULL, or why this case cannot be */
    void (*reset)(void);                    /* before each repetition, not timed; may be NULL */
    int64_t (*digest)(const bench_case *c); /* the answer from data in memory; NULL: bench_run's */
} bench_workload;

/* The workload's part. */
extern const bench_workload bench_the_workload;

/* The workload on its runtime: one repetition.  Its answer, or 0 where digest tells it. */
int64_t bench_run(const bench_case *c);

/* The runtime's part.  start: NULL, or why it cannot run with that many workers.  tell adds members
 * to the line of JSON, each with a comma before it. */
extern const char *const bench_runtime;
const char *bench_runtime_start(unsigned workers);
void bench_runtime_report(FILE *out);
void bench_runtime_stop(void);

#ifdef __cplusplus
}
#endif

#endif
