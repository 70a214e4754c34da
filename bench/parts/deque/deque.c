/* A deque of one kind (BENCH_KIND) as a program of `filch lab deques`: what its owner's operations cost while the other
 * workers steal, or what a steal costs. */
#include "bench.h"
#include "figures.h"
#include "measures.h"
#include "plain.h"

#include <string.h>

static const char *const names[] = {"pairs", "runs", "steals"};

static measure_what what;
static int thieves;

static int64_t rounded_up(long n, long to)
{
    return (n + to - 1) / to * to;
}

static const char *prepare(bench_case *c)
{
    while (strcmp(c->input, names[what]) != 0)
        what++;
    c->expected = rounded_up(c->size, what == MEASURE_PAIRS  ? 1
                                      : what == MEASURE_RUNS ? MEASURE_RUN
                                                             : MEASURE_CAPACITY);
    c->spawns = (uint64_t)c->expected;
    return NULL;
}

/* The answer is the number of items of which it is known what became of them. */
int64_t bench_run(const bench_case *c)
{
    measured m = measure(&BENCH_KIND, what, thieves, c->size);
    figures_add("ns", m.ns);
    figures_add("stolen", (double)m.stolen / (double)m.pushed);
    return m.popped + m.stolen + m.left;
}

static const bench_input inputs[] = {
    {"pairs", "number of pushes", 1, 1000000000, 200000, 50000},
    {"runs", "number of pushes", 1, 1000000000, 200000, 50000},
    {"steals", "number of items", 1, 1000000000, 200000, 50000},
    {0},
};

const bench_workload bench_the_workload = {.name = "deque", .inputs = inputs, .prepare = prepare};

const char *const bench_runtime = BENCH_COLUMN;

/* One worker owns the deque, the others steal. */
const char *bench_runtime_start(unsigned workers)
{
    thieves = (int)workers - 1;
    if (workers > 1 && strcmp(bench_runtime, "plain") == 0)
        return "a plain array is for one worker";
    if (workers > 1 && what == MEASURE_STEALS)
        return "what a steal costs is measured with one worker";
    return thieves <= MEASURE_THIEVES ? NULL : "that is more than 15 thieves";
}

void bench_runtime_tell(FILE *out)
{
    (void)out;
}

void bench_runtime_stop(void)
{
}
