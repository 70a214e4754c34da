/* What a deque costs: the things that are case_result, for the table of deque_bench and for the programs deque-KIND. */
#ifndef BENCH_DEQUE_CASES_H
#define BENCH_DEQUE_CASES_H

#include "deque/deque.h"

enum { CASE_RUN = 64, CASE_CAPACITY = 1 << 12, CASE_THIEVES_MAX = 15 };

typedef enum deque_case {
    CASE_PAIRS, /* push, pop, again: ns for a pair */
    CASE_RUNS,  /* 64 pushes, 64 pops, again: ns for a pair */
    CASE_STEALS /* by one who is alone with it: ns for an item */
} deque_case;

/* What became of the items: those that were pushed were popped, were stolen, or are left. */
typedef struct case_result {
    double ns;
    long pushed, popped, stolen, left;
} case_result;

/* One deque of that kind, with n operations on it (or a few more, to be whole), while that many thieves are at it. */
case_result case_run(const fi_deque_ops *kind, deque_case what, int thieves, long n);

#endif
