/* Start, report and stop OpenMP, for main.c. */
#include "bench.h"

#include <omp.h>

#ifdef __clang__
const char *const bench_runtime = "libomp";
#define COMPILER __VERSION__
#else
const char *const bench_runtime = "libgomp";
#define COMPILER "gcc " __VERSION__
#endif

/* Create the threads here, so that no repetition includes their creation. */
const char *bench_runtime_start(unsigned workers)
{
    omp_set_dynamic(0);
    omp_set_num_threads((int)workers);
    int got = 0;
#pragma omp parallel
#pragma omp single
    got = omp_get_num_threads();
    return got == (int)workers ? NULL : "OpenMP started fewer threads than requested";
}

void bench_runtime_report(FILE *out)
{
    fprintf(out, ",\"version\":\"OpenMP %d of %s\"", _OPENMP, COMPILER);
}

void bench_runtime_stop(void)
{
}
