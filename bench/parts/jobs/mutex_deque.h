/* The deque that the post begins with: a ring, two indices, and the system's lock around all three operations. */
#ifndef BENCH_JOBS_MUTEX_DEQUE_H
#define BENCH_JOBS_MUTEX_DEQUE_H

#include "deque/deque.h"

extern const fi_deque_ops mutex_deque;

#endif
