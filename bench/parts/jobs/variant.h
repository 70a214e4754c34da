/* The measured operations.  Each variant implements them and is a program, jobs-<variant>. */
#ifndef BENCH_JOBS_VARIANT_H
#define BENCH_JOBS_VARIANT_H

#include <stddef.h>

/* Run work(&args[i]) for each i < n as n jobs.  The caller creates them one by one as parts of one
 * job or group and waits for that. */
void variant_single(size_t n, void (*work)(void *arg), char *args);

/* Run body over [0, n), split into parts of at most `leaf` elements. */
void variant_for(size_t n, size_t leaf, void (*body)(size_t lo, size_t hi, void *ctx), void *ctx);

#endif
