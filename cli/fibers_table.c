/* The table of `filch bench fibers`: Filch and Go with the goal of each case; then the servers,
 * compared with the epoll loop. */
#include "fibers_cases.h"
#include "print.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct table {
    const series *all;
    int n;
} table;

static bool is_http(const series *s)
{
    return strcmp(s->workload->program, "http") == 0;
}

static const workload *workload_of(const fibers_case *r)
{
    const workload *w = fibers_workloads;
    while (strcmp(w->name, r->workload) != 0)
        w++;
    return w;
}

/* NULL: not measured. */
static const series *find_series(const table *t, const workload *w, const char *runtime,
                                 unsigned workers)
{
    for (int i = 0; i < t->n; i++)
        if (t->all[i].workload == w && t->all[i].workers == workers &&
            strcmp(t->all[i].runtime, runtime) == 0)
            return &t->all[i];
    return NULL;
}

static double median_of(const series *s, const char *name)
{
    return s && !s->failed ? series_metric_median(s, name) : NAN;
}

static double best_of(const series *s, const char *name)
{
    return s && !s->failed ? series_metric_best(s, name) : NAN;
}

static void print_goal(const fibers_case *r, unsigned workers, int digits)
{
    double g = workers == 1 ? r->goal : workers == 2 ? r->goal_of_2 : 0;
    print_cell(g > 0 ? g : NAN, 7, g >= 1 && digits > 1 ? 1 : digits);
    printf("\n");
}

/* ---- fibers ---- */

static void fibers_line(const fibers_case *r, const char *title, const series *own,
                        const series *go)
{
    double median = median_of(own, r->metric), best = best_of(own, r->metric);
    double go_median = median_of(go, r->metric), go_best = best_of(go, r->metric);
    printf("%-22s %7u  %-5s", title, own->workers, r->unit);
    print_cell(median, 8, r->digits);
    print_cell(best, 8, r->digits);
    print_cell(go_median, 8, r->digits);
    print_cell(go_best, 8, r->digits);
    print_cell(median / go_median, 6, 2);
    print_cell(best / go_best, 6, 2);
    print_goal(r, own->workers, r->digits);
}

/* A line for each number of workers, the title in the first. */
static void fibers_lines(const table *t, const fibers_case *r)
{
    const workload *w = workload_of(r);
    const char *title = r->title;
    for (int i = 0; i < t->n; i++) {
        const series *s = &t->all[i];
        if (s->workload != w || is_http(s) || strcmp(s->runtime, "filch") != 0)
            continue;
        if (s->failed)
            printf("%-22s %7u  failed\n", title, s->workers);
        else
            fibers_line(r, title, s, find_series(t, w, "go", s->workers));
        title = "";
    }
}

static void fibers_head(void)
{
    printf("%-22s %7s  %-5s  %8s  %8s  %8s  %8s  %6s  %6s  %7s\n", "fibers", "workers", "unit",
           "filch", "best", "go", "best", "/ go", "best", "goal");
}

/* ---- servers ---- */

static void http_line(const table *t, const fibers_case *r, const series *s, bool is_first)
{
    const series *epoll = find_series(t, s->workload, "epoll", s->workers);
    double median = median_of(s, r->metric), best = best_of(s, r->metric);
    printf("%-22s %7u  %-12s", is_first ? r->title : "", s->workers, s->runtime);
    if (s->failed) {
        printf("  failed\n");
        return;
    }
    print_cell(median, 8, r->digits);
    print_cell(best, 8, r->digits);
    print_cell(median / median_of(epoll, r->metric), 8, 2);
    print_cell(best / best_of(epoll, r->metric), 8, 2);
    print_cell(median_of(s, "requests_s"), 11, 0);
    if (strcmp(s->runtime, "filch") == 0)
        print_goal(r, s->workers, r->digits);
    else
        printf("\n");
}

static void http_lines(const table *t, const fibers_case *r)
{
    const workload *w = workload_of(r);
    bool is_first = true;
    for (int i = 0; i < t->n; i++)
        if (t->all[i].workload == w && is_http(&t->all[i])) {
            http_line(t, r, &t->all[i], is_first);
            is_first = false;
        }
}

static void http_head(void)
{
    printf("%-22s %7s  %-12s  %8s  %8s  %8s  %8s  %11s  %7s\n", "http, us per request", "workers",
           "server", "median", "best", "/ epoll", "best", "requests/s", "goal");
}

/* ---- the table ---- */

/* The number of series of servers, or of fibers. */
static int count_series(const table *t, bool of_http)
{
    int found = 0;
    for (int i = 0; i < t->n; i++)
        found += is_http(&t->all[i]) == of_http;
    return found;
}

static void print_part(const table *t, bool of_http)
{
    (of_http ? http_head : fibers_head)();
    for (const fibers_case *r = fibers_cases; r->title; r++)
        (of_http ? http_lines : fibers_lines)(t, r);
    printf("\n");
}

static void print_legend(bool is_quick)
{
    printf(
        "CPU times of all threads; medians, and the best.  / go, / epoll: ratios of medians and of "
        "best\ntimes; below 1, Filch (or the server) is faster.  late: delay of the end of a "
        "sleep.\nrequests/s: with wrk on the same CPUs.  The time per request depends on other "
        "load of the machine,\nby more than a factor of two: compare servers of one run only.\n");
    if (is_quick)
        printf("These are small sizes; the goals are for the full sizes.\n");
}

void print_fibers(const series *all, int n, const char *missing, bool is_quick)
{
    table t = {all, n};
    if (count_series(&t, false) > 0)
        print_part(&t, false);
    if (count_series(&t, true) > 0)
        print_part(&t, true);
    print_legend(is_quick);
    if (missing[0] != '\0')
        printf("\n%s", missing);
}
