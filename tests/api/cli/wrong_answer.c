/* A fib program with a wrong result in its third repetition. */
#include "bench.h"

const char *const bench_runtime = "nonsense";

const char *bench_runtime_start(unsigned workers)
{
    (void)workers;
    return NULL;
}

void bench_runtime_report(FILE *out)
{
    (void)out;
}

void bench_runtime_stop(void)
{
}

int64_t bench_run(const bench_case *c)
{
    static int repetition;
    return c->expected + (++repetition == 3);
}
