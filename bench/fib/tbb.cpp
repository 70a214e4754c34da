#include "bench.h"
#include "tbb_arena.h"

#include <tbb/task_group.h>

static long fib(int n)
{
    if (n < 2)
        return n;
    long a = 0;
    tbb::task_group group;
    group.run([&a, n] { a = fib(n - 1); });
    long b = fib(n - 2);
    group.wait();
    return a + b;
}

int64_t bench_run(const bench_case *c)
{
    return bench_arena().execute([c] { return fib(static_cast<int>(c->size)); });
}
