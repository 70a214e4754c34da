#include "bench.h"

static long fib(int n)
{
    if (n < 2)
        return n;
    long a;
#pragma omp task shared(a)
    a = fib(n - 1);
    long b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

int64_t bench_run(const bench_case *c)
{
    long result = 0;
#pragma omp parallel
#pragma omp single
    result = fib((int)c->size);
    return result;
}
