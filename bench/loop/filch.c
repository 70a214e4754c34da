#include "bench.h"
#include "loop.h"

#include <filch/algo.h>
#include <filch/task.h>

static void update_numbers(size_t lo, size_t hi, void *ctx)
{
    (void)ctx;
    for (size_t i = lo; i < hi; i++)
        loop_numbers[i] = loop_numbers[i] * LOOP_FACTOR + LOOP_TERM;
}

FILCH_VOID_TASK(run_loops, long, n)
{
    for (long i = 0; i < n; i++)
        filch_for(0, LOOP_LENGTH, 0, update_numbers, NULL);
}

int64_t bench_run(const bench_case *c)
{
    FILCH_RUN(run_loops, c->size);
    return 0;
}
