/* filch bench: choose the programs, measure them, print the table. */
#include "args.h"
#include "bench_options.h"
#include "command.h"
#include "fibers_cases.h"
#include "measure.h"
#include "print.h"
#include "series.h"

#include <stdio.h>
#include <string.h>

enum { SERIES_MAX = 4096 };

typedef struct bench {
    bench_options options;
    series all[SERIES_MAX];
    int count;
    bool failed;
} bench;

/* ---- the series ---- */

static series *bench_add_series(bench *b, const workload *w, const char *runtime, unsigned workers)
{
    if (b->count == SERIES_MAX)
        usage_error("bench: more than %d series of samples", SERIES_MAX);
    series *s = &b->all[b->count++];
    s->workload = w;
    s->runtime = runtime;
    s->workers = workers;
    return s;
}

static series *add_serial(bench *b, const workload *w, const char *name)
{
    series *s = bench_add_series(b, w, name, 1);
    s->serial = s;
    return s;
}

/* The serial program of the runtime's own compiler, if it has one. */
static series *own_serial(bench *b, const workload *w, const contender *r, series *of_all)
{
    if (!r->serial || !program_exists(w, r->serial))
        return of_all;
    return add_serial(b, w, r->serial);
}

static void add_runtime(bench *b, const workload *w, const contender *r, series *of_all)
{
    if (!program_exists(w, r->name))
        return;
    series *serial = own_serial(b, w, r, of_all);
    for (int i = 0; b->options.workers[i] != 0; i++)
        bench_add_series(b, w, r->name, b->options.workers[i])->serial = serial;
}

/* The serial program and Filch's program are required. */
static void add_workload(bench *b, const workload *w)
{
    if (!measure_can(w, serial_name, &b->failed))
        return;
    series *serial = add_serial(b, w, serial_name);
    for (int i = 0; b->options.runtimes[i]; i++)
        if (strcmp(b->options.runtimes[i]->name, "filch") != 0 ||
            measure_can(w, "filch", &b->failed))
            add_runtime(b, w, b->options.runtimes[i], serial);
}

/* Once for each runtime, with the first workload that misses it. */
static void print_left_out(const bench_options *o)
{
    for (int r = 0; o->runtimes[r]; r++) {
        const char *name = o->runtimes[r]->name;
        for (int w = 0; o->workloads[w] && strcmp(name, "filch") != 0; w++) {
            char why[512];
            if (program_exists(o->workloads[w], name))
                continue;
            program_why_missing(o->workloads[w], name, why, sizeof why);
            fprintf(stderr, "filch: %s is not measured: %s\n", name, why);
            break;
        }
    }
}

/* ---- the command ---- */

static void bench_print(bench *b)
{
    if (b->options.json)
        print_json(b->all, b->count);
    else
        print_table(b->all, b->count);
    fflush(stdout);
    const char *why =
        b->options.plot ? draw_plot(b->all, b->count, &plot_of_workloads, b->options.plot) : NULL;
    if (why) {
        fprintf(stderr, "filch: no plot was written: %s\n", why);
        b->failed = true;
    }
}

static int bench_other_table(const bench_options *o)
{
    if (o->table == jobs_name)
        return bench_jobs(o);
    return o->table == fibers_name ? bench_fibers(o) : bench_scale_out(o);
}

int command_bench(int argc, char **argv)
{
    static bench b;
    if (argc > 1 && strcmp(argv[1], "run") == 0)
        return bench_run(argc - 1, argv + 1);
    b.options = bench_options_read(argc, argv);
    if (b.options.table)
        return bench_other_table(&b.options);
    for (int i = 0; b.options.workloads[i]; i++)
        add_workload(&b, b.options.workloads[i]);
    print_left_out(&b.options);
    child_catch_signals();
    int end = measure_all(&b.options, b.all, b.count, &b.failed);
    if (end == EXIT_OK && b.count > 0)
        bench_print(&b);
    for (int i = 0; i < b.count; i++)
        series_free(&b.all[i]);
    return end == EXIT_OK && b.failed ? EXIT_FAILED : end;
}
