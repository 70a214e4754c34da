/* Shared by the sections of algo_bench: interleaved measurement of several variants of one task. */
#ifndef BENCH_PARTS_ALGO_BENCH_H
#define BENCH_PARTS_ALGO_BENCH_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct algo_options {
    bool quick;    /* small sizes, to check that everything runs */
    size_t rounds; /* each variant runs once per round */
} algo_options;

typedef struct algo_variant {
    const char *name;
    unsigned workers;           /* workers of Filch's runtime; 0: run without the runtime */
    void (*prepare)(void *arg); /* before each run, not timed; may be NULL */
    void (*run)(void *arg);
    bool (*is_right)(void *arg); /* after each run, not timed; may be NULL */
    void *arg;
} algo_variant;

/* Run all variants in every round.  Print best and median of each, and their speed relative to the
 * first variant (2.00: twice as fast).  A wrong result ends the program. */
void algo_compare(const algo_options *o, const char *title, const algo_variant *variants, size_t n);

/* Allocate memory and write to it, so that no run includes page faults. */
void *algo_memory(size_t bytes);

/* Each section is a function in its own file and a line in the table of algo_bench.c. */
void algo_sort(const algo_options *o);
void algo_scan(const algo_options *o);
void algo_loops(const algo_options *o);
void algo_gaps(const algo_options *o);

#ifdef __cplusplus
}
#endif

#endif
