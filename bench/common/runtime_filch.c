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

/* What the environment says stands; a workload's own need is only a better default. */
const char *bench_runtime_start(unsigned workers)
{
    filch_config config = {.workers = workers};
    if (!getenv("FILCH_STACK_SIZE"))
        config.stack_size = bench_the_workload.stack_size;
    int e = filch_start(&config);
    return e < 0 ? strerror(-e) : NULL;
}

typedef struct counter {
    const char *name;
    size_t at;
} counter;

static const counter counters[] = {
    {"spawned", offsetof(filch_counters, spawned)},
    {"run_inline", offsetof(filch_counters, run_inline)},
    {"published", offsetof(filch_counters, published)},
    {"claimed_back", offsetof(filch_counters, claimed_back)},
    {"steals_single", offsetof(filch_counters, steals_single)},
    {"steals_multiple", offsetof(filch_counters, steals_multiple)},
    {"steals_failed", offsetof(filch_counters, steals_failed)},
    {"stolen", offsetof(filch_counters, stolen)},
    {"parks", offsetof(filch_counters, parks)},
    {"wakes", offsetof(filch_counters, wakes)},
    {"sleeps", offsetof(filch_counters, sleeps)},
    {"searches", offsetof(filch_counters, searches)},
    {"jobs", offsetof(filch_counters, jobs)},
    {"fibers", offsetof(filch_counters, fibers)},
    {"held", offsetof(filch_counters, held)},
    {"fibers_made", offsetof(filch_counters, fibers_made)},
    {"fibers_reused", offsetof(filch_counters, fibers_reused)},
};
enum { COUNTERS = sizeof counters / sizeof counters[0] };

_Static_assert(sizeof(filch_counters) == COUNTERS * sizeof(uint64_t), "a counter is not told");

static uint64_t value_of(const filch_counters *c, int i)
{
    uint64_t value;
    memcpy(&value, (const char *)c + counters[i].at, sizeof value);
    return value;
}

/* All workers at one moment: a sum taken at another would not be their sum. */
static filch_counters *each_worker(unsigned workers)
{
    filch_counters *each = calloc(workers, sizeof *each);
    for (unsigned w = 0; each && w < workers; w++)
        filch_stats_worker(w, &each[w]);
    return each;
}

/* Each counter: the sum of all workers, then one worker after the other. */
void bench_runtime_tell(FILE *out)
{
    unsigned workers = filch_workers();
    filch_counters *each = each_worker(workers);
    if (!each)
        return;
    fprintf(out, ",\"counters\":{");
    for (int i = 0; i < COUNTERS; i++) {
        uint64_t sum = 0;
        for (unsigned w = 0; w < workers; w++)
            sum += value_of(&each[w], i);
        fprintf(out, "%s\"%s\":[%" PRIu64, i > 0 ? "," : "", counters[i].name, sum);
        for (unsigned w = 0; w < workers; w++)
            fprintf(out, ",%" PRIu64, value_of(&each[w], i));
        fprintf(out, "]");
    }
    fprintf(out, "}");
    free(each);
}

void bench_runtime_stop(void)
{
    filch_stop();
}
