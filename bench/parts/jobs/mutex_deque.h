/* The first deque of "Job System 2.0": a ring and two indices, protected by a pthread mutex. */
#ifndef BENCH_JOBS_MUTEX_DEQUE_H
#define BENCH_JOBS_MUTEX_DEQUE_H

#include "deque/deque.h"

extern const fi_deque_ops mutex_deque;

#endif
