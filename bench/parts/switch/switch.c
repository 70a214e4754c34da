/* The raw context switch, one way: two contexts switch to each other.  ../ctx has more shapes and
 * the switches of other libraries. */
#include "bench.h"
#include "ctx/ctx.h"
#include "metrics.h"

enum { STACK_SIZE = 16384 };

static _Alignas(64) char stack[STACK_SIZE];
static fi_ctx main_ctx, other_ctx;
static int64_t answers;

static void answer(void *arg)
{
    (void)arg;
    for (;;) {
        answers++;
        fi_ctx_switch(&other_ctx, &main_ctx);
    }
}

static void switch_there_and_back(long times)
{
    while (times-- > 0)
        fi_ctx_switch(&main_ctx, &other_ctx);
}

static const char *prepare(bench_case *c)
{
    c->expected = (c->size + 1) / 2;
    c->spawns = 2 * (uint64_t)c->expected;
    fi_ctx_init_thread(&main_ctx);
    fi_ctx_make(&other_ctx, stack, STACK_SIZE, answer, NULL);
    switch_there_and_back(1000);
    return NULL;
}

static void reset(void)
{
    answers = 0;
}

int64_t bench_run(const bench_case *c)
{
    stopwatch w = stopwatch_start();
    switch_there_and_back((long)c->expected);
    metrics_add_per(stopwatch_read(w), (double)c->spawns);
    return answers;
}

static const bench_input inputs[] = {
    {NULL, "number of switches", 1, 1000000000, 20000000, 200000},
    {0},
};

const bench_workload bench_the_workload = {
    .name = "switch",
    .inputs = inputs,
    .prepare = prepare,
    .reset = reset,
    .has_metrics = true,
};

const char *const bench_runtime = "filch";

/* The number of workers has no effect. */
const char *bench_runtime_start(unsigned workers)
{
    (void)workers;
    return NULL;
}

void bench_runtime_report(FILE *out)
{
    (void)out;
}

void bench_runtime_stop(void)
{
    fi_ctx_fini(&other_ctx);
}
