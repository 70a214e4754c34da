/* filch bench: measure.  One call of each program in turn, round after round, so that what disturbs
 * the machine disturbs all alike. */
#include "bench_options.h"
#include "command.h"
#include "series.h"
#include "show.h"
#include "words.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_SERIES = 4096 };

typedef struct bench {
    bench_options options;
    series all[MOST_SERIES];
    int count;
    bool failed;
} bench;

/* ---- which series there are ---- */

static series *add(bench *b, const workload *w, const char *runtime, unsigned workers)
{
    if (b->count == MOST_SERIES)
        misused("that is more than %d series of samples", MOST_SERIES);
    series *s = &b->all[b->count++];
    s->workload = w;
    s->runtime = runtime;
    s->workers = workers;
    return s;
}

static series *add_serial(bench *b, const workload *w, const char *name)
{
    series *s = add(b, w, name, 1);
    s->serial = s;
    return s;
}

/* The serial program of the runtime's own compiler, if that is not the compiler of all. */
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
        add(b, w, r->name, b->options.workers[i])->serial = serial;
}

/* The serial program and Filch's own belong to this tool; without them there is nothing to do. */
static bool is_complete(bench *b, const workload *w, const char *runtime)
{
    char why[512];
    if (program_exists(w, runtime))
        return true;
    program_why_missing(w, runtime, why, sizeof why);
    fprintf(stderr, "filch: %s cannot be measured: %s\n", w->name, why);
    b->failed = true;
    return false;
}

static void add_workload(bench *b, const workload *w)
{
    if (!is_complete(b, w, serial_name))
        return;
    series *serial = add_serial(b, w, serial_name);
    for (int i = 0; b->options.runtimes[i]; i++)
        if (strcmp(b->options.runtimes[i]->name, "filch") != 0 || is_complete(b, w, "filch"))
            add_runtime(b, w, b->options.runtimes[i], serial);
}

/* Once for each runtime, with the workload that misses it first. */
static void tell_left_out(const bench_options *o)
{
    for (int r = 0; o->runtimes[r]; r++) {
        const char *name = o->runtimes[r]->name;
        for (int w = 0; o->workloads[w] && strcmp(name, "filch") != 0; w++) {
            char why[512];
            if (program_exists(o->workloads[w], name))
                continue;
            program_why_missing(o->workloads[w], name, why, sizeof why);
            fprintf(stderr, "filch: %s is left out: %s\n", name, why);
            break;
        }
    }
}

/* ---- the measuring ---- */

static void progress(const bench *b, const series *s, int round)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%s, round %d of %d: %s, %u worker%s\033[K", s->workload->name, round + 1,
                b->options.repeat, s->runtime, s->workers, s->workers == 1 ? "" : "s");
}

static void progress_ends(void)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K");
}

/* ENDS_WELL, ENDS_FAILED where this series has failed, ENDS_MISUSED where all would. */
static int measure(bench *b, series *s)
{
    static child c;
    report r;
    bool is_misused;
    call what = {s->workload,     s->runtime,       s->workers,        s->workload->per_call,
                 b->options.size, b->options.quick, b->options.seconds};
    const char *why = program_call(&what, &c, &r, &is_misused);
    if (!why && series_add(s, &r) < 0)
        why = "no memory for its samples";
    if (!why)
        return ENDS_WELL;
    progress_ends();
    fprintf(stderr, "filch: %s-%s (%u workers) %s\n", s->workload->program, s->runtime, s->workers,
            why);
    return is_misused ? ENDS_MISUSED : ENDS_FAILED;
}

/* Where the programs do not accept what they are asked for, nothing else is to be had. */
static int measure_workload(bench *b, series *first, int n)
{
    for (int round = 0; round < b->options.repeat; round++) {
        for (int i = 0; i < n; i++) {
            if (first[i].failed)
                continue;
            progress(b, &first[i], round);
            int end = measure(b, &first[i]);
            if (end == ENDS_MISUSED)
                return end;
            if (end == ENDS_FAILED)
                first[i].failed = b->failed = true;
        }
    }
    return ENDS_WELL;
}

static int measure_all(bench *b)
{
    int first = 0, end = ENDS_WELL;
    while (first < b->count && end == ENDS_WELL) {
        int n = 1;
        while (first + n < b->count && b->all[first + n].workload == b->all[first].workload)
            n++;
        end = measure_workload(b, &b->all[first], n);
        first += n;
    }
    progress_ends();
    return end;
}

static void show(bench *b)
{
    if (b->options.json)
        show_json(b->all, b->count);
    else
        show_table(b->all, b->count);
    fflush(stdout);
    const char *why = b->options.plot ? show_plot(b->all, b->count, b->options.plot) : NULL;
    if (why) {
        fprintf(stderr, "filch: no picture was drawn: %s\n", why);
        b->failed = true;
    }
}

int command_bench(int argc, char **argv)
{
    static bench b;
    b.options = bench_options_read(argc, argv);
    for (int i = 0; b.options.workloads[i]; i++)
        add_workload(&b, b.options.workloads[i]);
    tell_left_out(&b.options);
    child_catch_signals();
    int end = measure_all(&b);
    if (end == ENDS_WELL && b.count > 0)
        show(&b);
    for (int i = 0; i < b.count; i++)
        series_free(&b.all[i]);
    return end == ENDS_WELL && b.failed ? ENDS_FAILED : end;
}
