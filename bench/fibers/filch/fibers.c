/* fibers-filch: the table of cases, their sizes, and the run of one case. */
#include "bench.h"
#include "cases.h"

#include <errno.h>
#include <filch/fiber.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* WARM: a short run comes first and fills the stack and record pools.  COLD: the case measures that
 * cost too (memory, first wake-ups). */
enum { COLD = 0, WARM = 1 };

static const struct {
    const char *name;
    fibers_run *run;
    int is_warmed;
} cases[] = {
    {"start-batch", start_batch, WARM}, {"start-one", start_one, WARM},
    {"yield-2", yield_2, WARM},         {"yield-100", yield_100, WARM},
    {"rendezvous", rendezvous, WARM},   {"buffered-1", buffered_1, WARM},
    {"buffered-4", buffered_4, WARM},   {"mutex", mutex, WARM},
    {"skynet", skynet, COLD},           {"skynet-join", skynet_join, COLD},
    {"parked", parked, COLD},           {"timers", timers, COLD},
};

/* Keep equal to `cases` in ../go/main.go; a test compares the -h texts. */
static const bench_input inputs[] = {
    {"start-batch", "number of fibers", 1, 1000000000, 2000000, 20000},
    {"start-one", "number of fibers", 1, 1000000000, 1000000, 10000},
    {"yield-2", "number of yields", 1, 1000000000, 5000000, 50000},
    {"yield-100", "number of yields", 1, 1000000000, 5000000, 50000},
    {"rendezvous", "number of round trips", 1, 1000000000, 1000000, 10000},
    {"buffered-1", "number of items", 1, 1000000000, 10000000, 100000},
    {"buffered-4", "number of items", 1, 1000000000, 10000000, 100000},
    {"mutex", "number of locks", 1, 1000000000, 20000000, 200000},
    {"skynet", "depth", 0, 8, 6, 4},
    {"skynet-join", "depth", 0, 8, 6, 4},
    {"parked", "number of fibers", 1, 10000000, 1000000, 5000},
    {"timers", "number of fibers", 1, 1000000, 10000, 1000},
    {0},
};

void must(int result)
{
    if (result >= 0)
        return;
    fprintf(stderr, "fibers on filch: %s\n", strerror(-result));
    exit(1);
}

static int index_of(const char *name)
{
    int i = 0;
    while (strcmp(cases[i].name, name) != 0)
        i++;
    return i;
}

static bool is_skynet(const bench_case *c)
{
    return strncmp(c->input, "skynet", 6) == 0;
}

static const char *prepare(bench_case *c)
{
    c->spawns = (uint64_t)(is_skynet(c) ? skynet_fibers(c->size) : c->size);
    c->expected = is_skynet(c) ? skynet_sum(c->size) : c->size;
    return NULL;
}

/* ---- one repetition ---- */

typedef struct once {
    fibers_run *run;
    long n;
    int64_t answer;
    stopwatch spent;
} once;

static void *run_once(void *arg)
{
    once *o = arg;
    o->spent = o->run(o->n, &o->answer);
    return NULL;
}

static void in_a_fiber(once *o)
{
    filch_fiber *f = filch_fiber_start(run_once, o);
    must(f ? filch_fiber_join(f, NULL) : -ENOMEM);
}

int64_t bench_run(const bench_case *c)
{
    static bool is_warm;
    int i = index_of(c->input);
    if (cases[i].is_warmed == WARM && !is_warm)
        in_a_fiber(&(once){.run = cases[i].run, .n = c->size / 20 + 1});
    is_warm = true;
    once o = {.run = cases[i].run, .n = c->size};
    in_a_fiber(&o);
    metrics_add_per(o.spent, (double)c->spawns);
    return o.answer;
}

const bench_workload bench_the_workload = {
    .name = "fibers",
    .inputs = inputs,
    .prepare = prepare,
    .has_metrics = true,
};
