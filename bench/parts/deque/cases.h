/* The measured cases of a deque, for deque_bench and the programs deque-<kind>. */
#ifndef BENCH_DEQUE_CASES_H
#define BENCH_DEQUE_CASES_H

#include "deque/deque.h"

enum { CASE_RUN = 64, CASE_CAPACITY = 1 << 12, CASE_THIEVES_MAX = 15 };

typedef enum deque_case {
    CASE_PAIRS, /* push, pop, repeat: ns per pair */
    CASE_RUNS,  /* 64 pushes, 64 pops, repeat: ns per pair */
    CASE_STEALS /* steals by the only thread: ns per item */
} deque_case;

/* pushed = popped + stolen + left */
typedef struct case_result {
    double ns;
    long pushed, popped, stolen, left;
} case_result;

/* Do n operations, rounded up to whole runs, on one deque of this kind while `thieves` threads
 * steal from it. */
case_result case_run(const fi_deque_ops *kind, deque_case what, int thieves, long n);

#endif
