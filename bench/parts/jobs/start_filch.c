/* Start and stop of the Filch variants, with the default configuration. */
#include "bench.h"

#include <filch/runtime.h>
#include <string.h>

const char *const bench_runtime = BENCH_VARIANT;

const char *bench_runtime_start(unsigned workers)
{
    const filch_config config = {.workers = workers};
    int e = filch_start(&config);
    return e < 0 ? strerror(-e) : NULL;
}

void bench_runtime_report(FILE *out)
{
    (void)out;
}

void bench_runtime_stop(void)
{
    filch_stop();
}
