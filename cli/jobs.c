/* filch bench jobs: the table of a classical job system compared with Filch. */
#include "args.h"
#include "bench_options.h"
#include "measure.h"
#include "print.h"
#include "series.h"

#include <stdio.h>

enum { JOB_SERIES_MAX = 2 * JOB_COLUMNS * CHOSEN_MAX };

typedef struct jobs {
    series all[JOB_SERIES_MAX];
    int count;
    bool failed;
} jobs;

/* A row of the table: all columns, each compared with the first. */
static void add_row(jobs *j, const workload *w, unsigned workers)
{
    series *first = &j->all[j->count];
    for (int i = 0; i < JOB_COLUMNS; i++)
        j->all[j->count++] = (series){
            .workload = w, .runtime = job_columns[i].name, .workers = workers, .serial = first};
}

static bool is_complete(jobs *j, const workload *w)
{
    for (int i = 0; i < JOB_COLUMNS; i++)
        if (!measure_can(w, job_columns[i].name, &j->failed))
            return false;
    return true;
}

static void add_workload(jobs *j, const workload *w, const bench_options *o)
{
    if (is_complete(j, w))
        for (int i = 0; o->workers[i] != 0; i++)
            add_row(j, w, o->workers[i]);
}

static void jobs_print(jobs *j, const bench_options *o)
{
    if (o->json)
        print_json(j->all, j->count);
    else
        print_jobs(j->all, j->count);
    fflush(stdout);
    const char *why = o->plot ? draw_plot(j->all, j->count, &plot_of_jobs, o->plot) : NULL;
    if (why) {
        fprintf(stderr, "filch: no plot was written: %s\n", why);
        j->failed = true;
    }
}

int bench_jobs(const bench_options *o)
{
    static jobs j;
    for (const workload *w = job_rows; w->name; w++)
        add_workload(&j, w, o);
    child_catch_signals();
    int end = measure_all(o, j.all, j.count, &j.failed);
    if (end == EXIT_OK && j.count > 0)
        jobs_print(&j, o);
    for (int i = 0; i < j.count; i++)
        series_free(&j.all[i]);
    return end == EXIT_OK && j.failed ? EXIT_FAILED : end;
}
