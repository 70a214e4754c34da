/* The cost of the runtime apart from the work it runs.  Two workers unless stated otherwise.
 *
 *   start and stop   filch_start and filch_stop without work
 *   run              FILCH_RUN of an empty task, from call to return
 *   first task       from FILCH_RUN to the first instruction of the task, after IDLE_MS idle
 *   idle             CPU time of the process in 2 * IDLE_MS without work
 *   64 workers       fib(32) with 64 workers relative to 2, interleaved
 *   memory           increase of the process's peak memory by fib(32)
 *
 * startup_bench [--json] [ROUNDS] [IDLE_MS]
 */
#include "parts/args.h"

#include <filch/filch.h>
#include <sys/resource.h>
#include <time.h>

#define FIRST_TASKS 9 /* each after IDLE_MS */
#define FIBS        9
#define FIB         32

struct results {
    size_t rounds, idle_ms;
    double start_stop_us, start_stop_best_us;
    double run_us, first_task_us, idle_cpu_ms;
    double many_workers_ratio;
    long memory_kb;
};

static double seconds(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double now(void)
{
    return seconds(CLOCK_MONOTONIC);
}

static void idle_for(size_t ms)
{
    struct timespec t = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};

    nanosleep(&t, NULL);
}

static long peak_kb(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return u.ru_maxrss;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Sorts the values. */
static double median(double *values, size_t n)
{
    qsort(values, n, sizeof *values, by_value);
    return values[n / 2];
}

static void start(unsigned workers)
{
    int e = filch_start(&(filch_config){.workers = workers});

    if (e < 0) {
        fprintf(stderr, "startup_bench: no runtime with %u workers: %s\n", workers, strerror(-e));
        exit(1);
    }
}

static void start_and_stop(struct results *f, double *samples)
{
    for (size_t i = 0; i < f->rounds; i++) {
        double begin = now();
        start(2);
        filch_stop();
        samples[i] = (now() - begin) * 1e6;
    }
    f->start_stop_us = median(samples, f->rounds);
    f->start_stop_best_us = samples[0];
}

FILCH_TASK(int, nothing)
{
    return 0;
}

static void run_nothing(struct results *f, double *samples)
{
    for (size_t i = 0; i < f->rounds; i++) {
        double begin = now();
        FILCH_RUN(nothing);
        samples[i] = (now() - begin) * 1e6;
    }
    f->run_us = median(samples, f->rounds);
}

FILCH_TASK(double, when)
{
    return now();
}

static void run_after_idleness(struct results *f)
{
    double samples[FIRST_TASKS];

    for (int i = 0; i < FIRST_TASKS; i++) {
        idle_for(f->idle_ms);
        double begin = now();
        samples[i] = (FILCH_RUN(when) - begin) * 1e6;
    }
    f->first_task_us = median(samples, FIRST_TASKS);
}

static void be_idle(struct results *f)
{
    double begin = seconds(CLOCK_PROCESS_CPUTIME_ID);

    idle_for(2 * f->idle_ms);
    f->idle_cpu_ms = (seconds(CLOCK_PROCESS_CPUTIME_ID) - begin) * 1e3;
}

FILCH_TASK(long, fib, int, n)
{
    if (n < 2)
        return n;
    FILCH_SPAWN(fib, n - 1);
    long b = FILCH_CALL(fib, n - 2);
    long a = FILCH_SYNC(fib);
    return a + b;
}

static double fib_with(unsigned workers)
{
    start(workers);
    double begin = now();
    FILCH_RUN(fib, FIB);
    double took = now() - begin;
    filch_stop();
    return took;
}

static void many_workers(struct results *f)
{
    double few[FIBS], many[FIBS];

    for (int i = 0; i < FIBS; i++) {
        few[i] = fib_with(2);
        many[i] = fib_with(64);
    }
    f->many_workers_ratio = median(many, FIBS) / median(few, FIBS);
}

/* The peak only rises, so this must run before the cases that need more memory. */
static void measure_memory(struct results *f)
{
    long before = peak_kb();

    fib_with(2);
    f->memory_kb = peak_kb() - before;
}

static int measure(struct results *f)
{
    double *samples = calloc(f->rounds, sizeof *samples);

    if (!samples) {
        fprintf(stderr, "startup_bench: out of memory\n");
        return 1;
    }
    measure_memory(f);
    start_and_stop(f, samples);
    start(2);
    FILCH_RUN(fib, FIB);
    idle_for(10); /* until all workers sleep */
    be_idle(f);
    run_after_idleness(f);
    run_nothing(f, samples);
    filch_stop();
    many_workers(f);
    free(samples);
    return 0;
}

static void print_json(const struct results *f)
{
    printf("{\"bench\":\"startup\",\"rounds\":%zu,\"idle_ms\":%zu,\"start_stop_us\":%.1f,"
           "\"start_stop_best_us\":%.1f,\"run_us\":%.2f,\"first_task_us\":%.1f,"
           "\"idle_cpu_ms\":%.3f,\"many_workers_ratio\":%.2f,\"memory_kb\":%ld}\n",
           f->rounds, f->idle_ms, f->start_stop_us, f->start_stop_best_us, f->run_us,
           f->first_task_us, f->idle_cpu_ms, f->many_workers_ratio, f->memory_kb);
}

static void print_table(const struct results *f)
{
    printf("start and stop           %8.1f us (best of %zu: %.1f)\n", f->start_stop_us, f->rounds,
           f->start_stop_best_us);
    printf("run an empty task        %8.2f us\n", f->run_us);
    printf("first task after %4zu ms %8.1f us\n", f->idle_ms, f->first_task_us);
    printf("CPU time in %4zu ms idle %8.3f ms\n", 2 * f->idle_ms, f->idle_cpu_ms);
    printf("64 workers / 2 workers   %8.2f times\n", f->many_workers_ratio);
    printf("memory for fib(%d)       %8ld KiB\n", FIB, f->memory_kb);
}

static const char help[] =
    "[--json] [ROUNDS] [IDLE_MS]\n"
    "Measure start and stop, FILCH_RUN, idle CPU time and memory.\n"
    "ROUNDS: 1 to 1000000 (1000).  IDLE_MS: idle time before a task, 1 to 10000 (1000).\n"
    "--json: print one JSON line.\n";

int main(int argc, char **argv)
{
    args a = {.program = "startup_bench",
              .help = help,
              .number = {{1, 1000000, "not a number of rounds from 1 to 1000000", 1000},
                         {1, 10000, "not a time from 1 to 10000 ms", 1000}}};
    args_parse(&a, argv + (argc > 0));
    struct results f = {.rounds = a.number[0].value, .idle_ms = a.number[1].value};
    int e = measure(&f);

    if (e == 0)
        (a.json ? print_json : print_table)(&f);
    return e;
}
