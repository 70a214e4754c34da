/* A deque of one kind (BENCH_KIND) as a program of `filch lab deques`: what its owner's operations cost while the other
 * workers steal, or what a steal costs. */
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

/* The answer is the number of items of which it is known what became of them. */
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

const bench_workload bench_the_workload = {.name = "deque", .inputs = inputs, .prepare = prepare};

const char *const bench_runtime = BENCH_VARIANT;

/* One worker owns the deque, the others steal. */
const char *bench_runtime_start(unsigned workers)
{
    thieves = (int)workers - 1;
    if (workers > 1 && strcmp(bench_runtime, "plain") == 0)
        return "a plain array is for one worker";
    if (workers > 1 && what == CASE_STEALS)
        return "what a steal costs is case_result with one worker";
    return thieves <= CASE_THIEVES_MAX ? NULL : "that is more than 15 thieves";
}

void bench_runtime_report(FILE *out)
{
    (void)out;
}

void bench_runtime_stop(void)
{
}
