/* What a deque costs: the things that are measured, for the table of deque_bench and for the programs deque-KIND. */
#ifndef BENCH_DEQUE_MEASURES_H
#define BENCH_DEQUE_MEASURES_H

#include "deque/deque.h"

enum { MEASURE_RUN = 64, MEASURE_CAPACITY = 1 << 12, MEASURE_THIEVES = 15 };

typedef enum measure_what {
    MEASURE_PAIRS, /* push, pop, again: ns for a pair */
    MEASURE_RUNS,  /* 64 pushes, 64 pops, again: ns for a pair */
    MEASURE_STEALS /* by one who is alone with it: ns for an item */
} measure_what;

/* What became of the items: those that were pushed were popped, were stolen, or are left. */
typedef struct measured {
    double ns;
    long pushed, popped, stolen, left;
} measured;

/* One deque of that kind, with n operations on it (or a few more, to be whole), while that many thieves are at it. */
measured measure(const fi_deque_ops *kind, measure_what what, int thieves, long n);

#endif
