/* deque-<kind>, a program of `filch lab deques`: the cost of the owner's operations while the other
 * workers steal, or the cost of a steal.  BENCH_KIND is the kind of deque. */
#include "array_baseline.h"
#include "bench.h"
#include "cases.h"
#include "metrics.h"

#include <string.h>

static const char *const names[] = {"pairs", "runs", "steals"};

static deque_case what;
static int thieves;

static int64_t rounded_up(long n, long to)
{
    return (n + to - 1) / to * to;
}

static const char *prepare(bench_case *c)
{
    while (strcmp(c->input, names[what]) != 0)
        what++;
    c->expected = rounded_up(c->size, what == CASE_PAIRS  ? 1
                                      : what == CASE_RUNS ? CASE_RUN
                                                          : CASE_CAPACITY);
    c->spawns = (uint64_t)c->expected;
    return NULL;
}

/* The result is the number of items accounted for. */
int64_t bench_run(const bench_case *c)
{
    case_result m = case_run(&BENCH_KIND, what, thieves, c->size);
    metrics_add("ns", m.ns);
    metrics_add("stolen", (double)m.stolen / (double)m.pushed);
    return m.popped + m.stolen + m.left;
}

static const bench_input inputs[] = {
    {"pairs", "number of pushes", 1, 1000000000, 200000, 50000},
    {"runs", "number of pushes", 1, 1000000000, 200000, 50000},
    {"steals", "number of items", 1, 1000000000, 200000, 50000},
    {0},
};

const bench_workload bench_the_workload = {
    .name = "deque",
    .inputs = inputs,
    .prepare = prepare,
    .has_metrics = true,
};

const char *const bench_runtime = BENCH_VARIANT;

/* The first worker owns the deque, the others steal. */
const char *bench_runtime_start(unsigned workers)
{
    thieves = (int)workers - 1;
    if (workers > 1 && strcmp(bench_runtime, "plain") == 0)
        return "the plain array supports 1 worker only";
    if (workers > 1 && what == CASE_STEALS)
        return "input 'steals' supports 1 worker only";
    return thieves <= CASE_THIEVES_MAX ? NULL : "more than 15 thieves";
}

void bench_runtime_report(FILE *out)
{
    (void)out;
}

void bench_runtime_stop(void)
{
}
