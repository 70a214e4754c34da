/* fib(n) by two recursive calls.  It does no other work, so it shows the cost of a spawn. */
#include "bench.h"

static const char *prepare(bench_case *c)
{
    int64_t a = 0, b = 1; /* fib(i), fib(i + 1) */
    for (long i = 0; i < c->size; i++) {
        int64_t next = a + b;
        a = b;
        b = next;
    }
    c->expected = a;
    c->spawns = (uint64_t)b - 1; /* one per call with n >= 2 */
    return NULL;
}

static const bench_input inputs[] = {
    {NULL, "n of fib(n)", 0, 60, 40, 32},
    {0},
};

const bench_workload bench_the_workload = {
    .name = "fib",
    .inputs = inputs,
    .prepare = prepare,
};
