/* No runtime: the baseline of the comparison. */
#include "bench.h"

/* An OpenMP program is compared with a serial program of its own compiler, which may differ from
 * the compiler of this build. */
#ifndef BENCH_OTHER_COMPILER
const char *const bench_runtime = "serial";
#elif defined __clang__
const char *const bench_runtime = "serial-clang";
#else
const char *const bench_runtime = "serial-gcc";
#endif

const char *bench_runtime_start(unsigned workers)
{
    return workers == 1 ? NULL : "a serial program runs with 1 worker only";
}

void bench_runtime_report(FILE *out)
{
    (void)out;
}

void bench_runtime_stop(void)
{
}
