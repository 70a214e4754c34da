/* Start, report and stop Filch, for main.c. */
#include "bench.h"

#include <filch/runtime.h>
#include <filch/stats.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#ifdef FILCH_COUNT_SPAWNS
const char *const bench_runtime = "filch-counted";
#else
const char *const bench_runtime = "filch";
#endif

/* FILCH_STACK_SIZE takes precedence over the workload's stack size. */
const char *bench_runtime_start(unsigned workers)
{
    filch_config config = {.workers = workers};
    if (!getenv("FILCH_STACK_SIZE"))
        config.stack_size = bench_the_workload.stack_size;
    int e = filch_start(&config);
    return e < 0 ? strerror(-e) : NULL;
}

/* Read the counters of all workers first, so that the sum is that of the values printed. */
static filch_counters *each_worker(unsigned workers)
{
    filch_counters *each = calloc(workers, sizeof *each);
    for (unsigned w = 0; each && w < workers; w++)
        filch_stats_worker(w, &each[w]);
    return each;
}

/* For each counter: the sum over all workers, then the value of each worker. */
void bench_runtime_report(FILE *out)
{
    unsigned workers = filch_worker_count();
    filch_counters *each = each_worker(workers);
    if (!each)
        return;
    fprintf(out, ",\"counters\":{");
    const char *name;
    for (unsigned i = 0; (name = filch_counter_name(i)) != NULL; i++) {
        uint64_t sum = 0;
        for (unsigned w = 0; w < workers; w++)
            sum += filch_counter_value(&each[w], i);
        fprintf(out, "%s\"%s\":[%" PRIu64, i > 0 ? "," : "", name, sum);
        for (unsigned w = 0; w < workers; w++)
            fprintf(out, ",%" PRIu64, filch_counter_value(&each[w], i));
        fprintf(out, "]");
    }
    fprintf(out, "}");
    free(each);
}

void bench_runtime_stop(void)
{
    filch_stop();
}
