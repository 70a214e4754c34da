/* An array with two non-atomic indices, for one thread: the lower bound for a deque.  It is called
 * through the same table of functions, so that the difference is the deque and not the call. */
#ifndef BENCH_DEQUE_ARRAY_BASELINE_H
#define BENCH_DEQUE_ARRAY_BASELINE_H

#include "deque/deque.h"

extern const fi_deque_ops array_baseline;

#endif
