/* filch bench fibers: the table of fibers compared with Go, and of HTTP servers. */
#include "args.h"
#include "bench_options.h"
#include "fibers_cases.h"
#include "measure.h"
#include "print.h"
#include "series.h"

#include <stdio.h>
#include <string.h>

enum { CONTENDERS_MAX = 5, FIBERS_SERIES_MAX = CHOSEN_MAX * CHOSEN_MAX * CONTENDERS_MAX };

typedef struct fibers {
    series all[FIBERS_SERIES_MAX];
    int count;
    char missing[2048]; /* lines "name: reason" */
    bool failed;
} fibers;

/* Each line once. */
static void fibers_note_missing(fibers *f, const workload *w, const char *runtime, const char *name)
{
    char why[256], line[320];
    program_why_missing(w, runtime, why, sizeof why);
    int n = snprintf(line, sizeof line, "%s: %s\n", name, why);
    size_t used = strlen(f->missing);
    if (!strstr(f->missing, line) && used + (size_t)n < sizeof f->missing)
        memcpy(f->missing + used, line, (size_t)n + 1);
}

/* The fibers program of Filch is required.  All other programs are optional. */
static bool is_there(fibers *f, const workload *w, const char *runtime)
{
    bool is_own = strcmp(runtime, "filch") == 0, is_http = strcmp(w->program, "http") == 0;
    if (is_own && !is_http)
        return measure_can(w, runtime, &f->failed);
    if (program_exists(w, runtime))
        return true;
    fibers_note_missing(f, w, runtime, is_own ? "filch's server" : runtime);
    return false;
}

/* The epoll program needs only wrk.  Without it, all HTTP programs are missing. */
static bool has_none(fibers *f, const workload *w)
{
    if (strcmp(w->program, "http") != 0 || program_exists(w, "epoll"))
        return false;
    fibers_note_missing(f, w, "epoll", "http");
    return true;
}

static void fibers_add_series(fibers *f, const workload *w, unsigned workers, int rounds)
{
    if (has_none(f, w))
        return;
    for (const contender *c = fibers_contenders(w); c->name; c++)
        if (is_there(f, w, c->name))
            f->all[f->count++] =
                (series){.workload = w, .runtime = c->name, .workers = workers, .rounds = rounds};
}

/* A raw switch has no workers. */
static void add_workload(fibers *f, const workload *w, const bench_options *o)
{
    int rounds = o->repeat_is_usual ? fibers_rounds(w) : 0;
    if (strcmp(w->program, "switch") == 0)
        fibers_add_series(f, w, 1, rounds);
    else
        for (int i = 0; o->workers[i] != 0; i++)
            fibers_add_series(f, w, o->workers[i], rounds);
}

static void fibers_print(fibers *f, const bench_options *o)
{
    if (o->json) {
        fputs(f->missing, stderr);
        print_json(f->all, f->count);
    } else {
        print_fibers(f->all, f->count, f->missing, o->quick);
    }
    fflush(stdout);
}

int bench_fibers(const bench_options *o)
{
    static fibers f;
    for (int i = 0; o->workloads[i]; i++)
        add_workload(&f, o->workloads[i], o);
    child_catch_signals();
    int end = measure_all(o, f.all, f.count, &f.failed);
    if (end == EXIT_OK && f.count > 0)
        fibers_print(&f, o);
    for (int i = 0; i < f.count; i++)
        series_free(&f.all[i]);
    return end == EXIT_OK && f.failed ? EXIT_FAILED : end;
}
