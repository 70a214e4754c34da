/* What is measured, once for each column of the table.  A column is a program: jobs-<column>. */
#ifndef BENCH_JOBS_VARIANT_H
#define BENCH_JOBS_VARIANT_H

#include <stddef.h>

/* work(&args[i]) for each i below n, as n jobs which the caller makes one by one, as parts of one that it waits for. */
void variant_single(size_t n, void (*work)(void *arg), char *args);

/* body for parts of 0 up to n, of `leaf` elements at the most. */
void variant_for(size_t n, size_t leaf, void (*body)(size_t lo, size_t hi, void *ctx), void *ctx);

#endif
