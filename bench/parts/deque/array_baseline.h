/* An array and two indices, not atomic, for one thread: what a deque would cost if nobody stole. It
 * is called through the same table, so that the difference is the deque and not the call. */
#ifndef BENCH_DEQUE_ARRAY_BASELINE_H
#define BENCH_DEQUE_ARRAY_BASELINE_H

#include "deque/deque.h"

extern const fi_deque_ops array_baseline;

#endif
