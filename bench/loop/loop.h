/* The numbers that the loops update. */
#ifndef BENCH_LOOP_H
#define BENCH_LOOP_H

#include <stddef.h>
#include <stdint.h>

enum { LOOP_LENGTH = 1 << 18 };

extern uint32_t loop_numbers[LOOP_LENGTH];

/* What one loop does to each number. */
#define LOOP_FACTOR UINT32_C(1664525)
#define LOOP_TERM   UINT32_C(1013904223)

#endif
