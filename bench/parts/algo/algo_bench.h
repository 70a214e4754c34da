/* What the sections of algo_bench share: several variants to do the same, measured in turns. */
#ifndef BENCH_PARTS_ALGO_BENCH_H
#define BENCH_PARTS_ALGO_BENCH_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct algo_options {
    bool quick;    /* small sizes: to see that all runs */
    size_t rounds; /* in each, everybody runs once */
} algo_options;

/* One way to do it. */
typedef struct algo_variant {
    const char *name;
    unsigned workers;           /* of Filch's runtime meanwhile; 0: there is none */
    void (*prepare)(void *arg); /* before each run, and not measured; or NULL */
    void (*run)(void *arg);
    bool (*is_right)(void *arg); /* after each run, and not measured; or NULL */
    void *arg;
} algo_variant;

/* Run all of them in turns, and print the best and the median of each, and how they compare with the first: of
 * 2.00, the first would take twice as long.  A wrong result ends the program. */
void algo_compare(const algo_options *o, const char *title, const algo_variant *variants, size_t n);

/* Memory that has been written to, so that nobody measures the system's page faults. */
void *algo_memory(size_t bytes);

/* Each section is a function in a file of its own, and a line in the table of algo_bench.c. */
void algo_sort(const algo_options *o);
void algo_scan(const algo_options *o);
void algo_loops(const algo_options *o);

#ifdef __cplusplus
}
#endif

#endif
