#include "bench.h"

/* noinline: otherwise gcc unrolls the recursion several levels deep, which it cannot do in a
 * program whose calls may be tasks.  Unrolled, the serial program takes two thirds of the time. */
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
