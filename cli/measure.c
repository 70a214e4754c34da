/* Call the programs of all series in rounds.  `filch bench` and its other tables use it. */
#include "measure.h"

#include "args.h"

#include <stdio.h>
#include <unistd.h>

static int rounds_of(const bench_options *o, const series *s)
{
    return s->rounds > 0 ? s->rounds : o->repeat;
}

static void print_progress(const bench_options *o, const series *s, int round)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%s, round %d of %d: %s, %u worker%s\033[K", s->workload->name, round + 1,
                rounds_of(o, s), s->runtime, s->workers, s->workers == 1 ? "" : "s");
}

static void clear_progress(void)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K");
}

/* Returns EXIT_OK; EXIT_FAILED: this series failed; EXIT_USAGE: all series would fail. */
static int measure_series(const bench_options *o, series *s)
{
    static child c;
    report r;
    bool is_usage_error;
    call what = {s->workload, s->runtime, s->workers, s->workload->per_call,
                 o->size,     o->quick,   o->seconds};
    const char *why = program_call(&what, &c, &r, &is_usage_error);
    if (!why && series_add(s, &r) < 0)
        why = "out of memory for its samples";
    if (!why)
        return EXIT_OK;
    clear_progress();
    if (is_usage_error)
        fprintf(stderr, "filch: bench: %s\n", why);
    else
        fprintf(stderr, "filch: %s-%s (%u worker%s) %s\n", s->workload->program, s->runtime,
                s->workers, s->workers == 1 ? "" : "s", why);
    return is_usage_error ? EXIT_USAGE : EXIT_FAILED;
}

/* Stop if the programs reject the arguments. */
static int measure_workload(const bench_options *o, series *first, int n, bool *failed)
{
    int rounds = rounds_of(o, first);
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < n; i++) {
            if (first[i].failed)
                continue;
            print_progress(o, &first[i], round);
            int end = measure_series(o, &first[i]);
            if (end == EXIT_USAGE)
                return end;
            if (end == EXIT_FAILED)
                first[i].failed = *failed = true;
        }
    }
    return EXIT_OK;
}

int measure_all(const bench_options *o, series *all, int n, bool *failed)
{
    int first = 0, end = EXIT_OK;
    while (first < n && end == EXIT_OK) {
        int of_workload = 1;
        while (first + of_workload < n && all[first + of_workload].workload == all[first].workload)
            of_workload++;
        end = measure_workload(o, &all[first], of_workload, failed);
        first += of_workload;
    }
    clear_progress();
    return end;
}

bool measure_can(const workload *w, const char *runtime, bool *failed)
{
    char why[512];
    if (program_exists(w, runtime))
        return true;
    program_why_missing(w, runtime, why, sizeof why);
    fprintf(stderr, "filch: cannot measure %s: %s\n", w->name, why);
    *failed = true;
    return false;
}
