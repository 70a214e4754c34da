/* The arena in which the oneTBB programs run their tasks. */
#ifndef BENCH_TBB_ARENA_H
#define BENCH_TBB_ARENA_H

#include <tbb/task_arena.h>

tbb::task_arena &bench_arena();

#endif
