#include "parts/algo/loops.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

void algo_loop_tbb(size_t n, int threads, algo_body *body)
{
    static tbb::task_arena one(1), two(2);
    tbb::task_arena &arena = threads == 1 ? one : two;

    arena.execute([n, body] {
        tbb::parallel_for(tbb::blocked_range<size_t>(0, n),
                          [body](const auto &part) { body(part.begin(), part.end(), nullptr); });
    });
}
