#include "bench.h"

/* Not inlined into itself: gcc would unroll the recursion several levels deep, which it cannot do where a
 * call may also be a task.  So this is what the calls cost; unrolled, it takes two thirds of the time. */
__attribute__((noinline)) static long fib(int n)
{
    if (n < 2)
        return n;
    return fib(n - 1) + fib(n - 2);
}

int64_t bench_run(const bench_case *c)
{
    return fib((int)c->size);
}
