/* No runtime at all: what the others are compared with. */
#include "bench.h"

/* An OpenMP program is compared with a serial one of its own compiler, which need not be the
 * compiler of the rest. */
#ifndef BENCH_OTHER_COMPILER
const char *const bench_runtime = "serial";
#elif defined __clang__
const char *const bench_runtime = "serial-clang";
#else
const char *const bench_runtime = "serial-gcc";
#endif

const char *bench_runtime_start(unsigned workers)
{
    return workers == 1 ? NULL : "a serial program has one worker";
}

void bench_runtime_report(FILE *out)
{
    (void)out;
}

void bench_runtime_stop(void)
{
}
