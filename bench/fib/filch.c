#include "bench.h"

#include <filch/task.h>

FILCH_TASK(long, fib, int, n)
{
    if (n < 2)
        return n;
    FILCH_SPAWN(fib, n - 1);
    long b = FILCH_CALL(fib, n - 2);
    long a = FILCH_SYNC(fib);
    return a + b;
}

int64_t bench_run(const bench_case *c)
{
    return FILCH_RUN(fib, (int)c->size);
}
