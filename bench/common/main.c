/* main of every benchmark program: time each repetition and check its result. */
#include "metrics.h"
#include "options.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#ifdef __clang__
#define COMPILER "clang"
#else
#define COMPILER "gcc"
#endif

static int fail(const char *why)
{
    fprintf(stderr, "%s on %s: %s\n", bench_the_workload.name, bench_runtime, why);
    return 1;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Run one repetition.  Returns its time in seconds and stores its result. */
static double run_once(const bench_case *c, int64_t *result)
{
    const bench_workload *w = &bench_the_workload;
    if (w->reset)
        w->reset();
    stopwatch watch = stopwatch_start();
    double began = now();
    *result = bench_run(c);
    double spent = now() - began;
    if (!w->has_metrics)
        metrics_add("cpu_ms", stopwatch_read(watch).cpu / 1e6);
    if (w->digest)
        *result = w->digest(c);
    return spent;
}

/* Returns 0, or 1 after reporting a wrong result. */
static int run_all(const bench_options *o, double *samples)
{
    for (int i = 0; i < o->repetitions; i++) {
        int64_t result;
        samples[i] = run_once(&o->spec, &result);
        if (result != o->spec.expected) {
            fprintf(stderr, "%s on %s: wrong result %" PRId64 ", expected %" PRId64 "\n",
                    bench_the_workload.name, bench_runtime, result, o->spec.expected);
            return 1;
        }
    }
    return 0;
}

static long peak_memory_kb(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return use.ru_maxrss;
}

static void print_json(const bench_options *o, const double *samples)
{
    const bench_case *c = &o->spec;
    printf("{\"workload\":\"%s%s%s\"", bench_the_workload.name, c->input ? "-" : "",
           c->input ? c->input : "");
    printf(",\"runtime\":\"%s\",\"compiler\":\"" COMPILER "\"", bench_runtime);
    printf(",\"size\":%ld,\"workers\":%u", c->size, o->workers);
    printf(",\"spawns\":%" PRIu64 ",\"result\":%" PRId64, c->spawns, c->expected);
    printf(",\"peak_kb\":%ld,\"samples\":[", peak_memory_kb());
    for (int i = 0; i < o->repetitions; i++)
        printf("%s%.9f", i > 0 ? "," : "", samples[i]);
    printf("]");
    metrics_print(stdout);
    bench_runtime_report(stdout);
    printf("}\n");
}

int main(int argc, char **argv)
{
    bench_options o = bench_options_read(argc, argv);
    const char *why = bench_the_workload.prepare(&o.spec);
    if (why) {
        fprintf(stderr, "%s: %s\n", bench_the_workload.name, why);
        return 2;
    }
    why = bench_runtime_start(o.workers);
    if (why)
        return fail(why);
    static double samples[REPETITIONS_MAX];
    int wrong = run_all(&o, samples);
    if (!wrong)
        print_json(&o, samples);
    bench_runtime_stop();
    return wrong || fflush(stdout) != 0;
}
