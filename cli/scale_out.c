/* filch bench scale-out: the same workloads with few workers and with more workers than CPUs. */
#include "args.h"
#include "bench_options.h"
#include "measure.h"
#include "print.h"
#include "scale_out_rows.h"
#include "series.h"

#include <filch/runtime.h>
#include <stdio.h>
#include <string.h>

enum { SCALE_OUT_SERIES_MAX = CHOSEN_MAX * CHOSEN_MAX };

typedef struct scale_out {
    series all[SCALE_OUT_SERIES_MAX];
    int count;
    char missing[512]; /* "http: reason", or empty */
    bool failed;
} scale_out;

/* The server needs wrk.  The other programs are required. */
static bool scale_out_can(scale_out *s, const workload *w)
{
    if (strcmp(w->program, "http") != 0)
        return measure_can(w, "filch", &s->failed);
    if (program_exists(w, "filch"))
        return true;
    char why[256];
    program_why_missing(w, "filch", why, sizeof why);
    snprintf(s->missing, sizeof s->missing, "%s: %s\n", scale_out_arg(w), why);
    return false;
}

static void add_workload(scale_out *s, const workload *w, const bench_options *o)
{
    if (!scale_out_can(s, w))
        return;
    for (int i = 0; o->workers[i] != 0; i++)
        s->all[s->count++] = (series){.workload = w, .runtime = "filch", .workers = o->workers[i]};
}

static void scale_out_print(const scale_out *s, const bench_options *o)
{
    if (o->json) {
        fputs(s->missing, stderr);
        print_json(s->all, s->count);
    } else {
        print_scale_out(s->all, s->count, filch_cpu_count(), s->missing);
    }
    fflush(stdout);
}

int bench_scale_out(const bench_options *o)
{
    static scale_out s;
    for (int i = 0; o->workloads[i]; i++)
        add_workload(&s, o->workloads[i], o);
    child_catch_signals();
    int end = measure_all(o, s.all, s.count, &s.failed);
    if (end == EXIT_OK && s.count > 0) {
        scale_out_print(&s, o);
    } else if (s.missing[0] != '\0') { /* nothing else was chosen */
        fprintf(stderr, "filch: cannot measure %s", s.missing);
        s.failed = true;
    }
    for (int i = 0; i < s.count; i++)
        series_free(&s.all[i]);
    return end == EXIT_OK && s.failed ? EXIT_FAILED : end;
}
