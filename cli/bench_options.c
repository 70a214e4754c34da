#include "bench_options.h"

#include "args.h"
#include "fibers_cases.h"
#include "gnuplot.h"
#include "series.h"

#include <filch/runtime.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_REPEAT = 5, QUICK_REPEAT = 3, USUAL_SECONDS = 600, WORKERS_MAX = 1024 };

static void help(void)
{
    printf(
        "usage: filch bench [WORKLOAD...] [OPTION...]\n"
        "       filch bench jobs [OPTION...]\n"
        "       filch bench fibers [ROW...] [OPTION...]\n\n"
        "Measures workloads on Filch and on what is here of its peers, in turns, and prints a "
        "table.\n"
        "jobs has a table of its own: many small jobs, on a classical job system and on Filch.\n"
        "fibers has one too: CPU time and memory of fibers, channels, timers and HTTP, beside "
        "Go.\n\n"
        "  --workers LIST     numbers of workers, such as 1,2 (1 and as many as there are CPUs)\n"
        "  --runtimes LIST    of those below (all)\n"
        "  --repeat N         calls of each program, 1 to %d (%d, with --quick %d)\n"
        "  --quick            small sizes: done in seconds, good for a look\n"
        "  --size N           the size of the one workload that is named\n"
        "  --json             lines of JSON with all samples, and no table\n"
        "  --plot FILE        also a picture, FILE.svg or FILE.png (needs gnuplot)\n"
        "  --timeout SECONDS  how long one call may take (%d)\n"
        "  --help             this text\n\nworkloads\n",
        REPEATS_MAX, USUAL_REPEAT, QUICK_REPEAT, USUAL_SECONDS);
    for (const workload *w = workloads; w->name; w++)
        printf("  %-18s %s\n", w->name, w->about);
    printf("\nruntimes\n");
    for (const contender *r = runtimes; r->name; r++)
        printf("  %-18s %s\n", r->name, r->about);
    printf("\nrows of fibers\n");
    for (const workload *w = fibers_workloads; w->name; w++)
        printf("  %-18s %s\n", fibers_arg(w), w->about);
}

/* Call `take` for each of the words between commas. */
static void for_each_item(bench_options *o, const char *list, const char *option,
                          void (*take)(bench_options *o, const char *word))
{
    char word[64];
    for (const char *p = list;; p++) {
        size_t length = strcspn(p, ",");
        if (length == 0 || length >= sizeof word)
            usage_error("%s takes words with commas between them, and not '%s'", option, list);
        snprintf(word, sizeof word, "%.*s", (int)length, p);
        take(o, word);
        p += length;
        if (*p == '\0')
            return;
    }
}

static void take_workers(bench_options *o, const char *word)
{
    unsigned workers = (unsigned)number_arg(word, "--workers", 1, WORKERS_MAX);
    int i = 0;
    for (; o->workers[i] != 0; i++)
        if (o->workers[i] == workers)
            usage_error("--workers has %u twice", workers);
    if (i == CHOSEN_MAX - 1)
        usage_error("--workers takes at most %d numbers", CHOSEN_MAX - 1);
    o->workers[i] = workers;
}

static void take_runtime(bench_options *o, const char *word)
{
    char names[256];
    list_runtimes(names, sizeof names);
    const contender *r = runtime_named(word);
    if (!r)
        usage_error("there is no runtime '%s'; there are: %s", word, names);
    int i = 0;
    for (; o->runtimes[i]; i++)
        if (o->runtimes[i] == r)
            usage_error("--runtimes has %s twice", word);
    o->runtimes[i] = r;
}

static void take_jobs(bench_options *o)
{
    if (o->jobs)
        usage_error("%s is named twice", jobs_name);
    o->jobs = true;
}

/* Each may be named once. */
static void choose(bench_options *o, const workload *w, const char *word)
{
    int i = 0;
    for (; o->workloads[i]; i++)
        if (o->workloads[i] == w)
            usage_error("%s is named twice", word);
    o->workloads[i] = w;
}

static void take_workload(bench_options *o, const char *word)
{
    char names[256];
    list_workloads(names, sizeof names);
    const workload *w = workload_named(word);
    if (!w)
        usage_error("there is no workload '%s'; there are: %s", word, names);
    choose(o, w, word);
}

static void take_row(bench_options *o, const char *word)
{
    char names[512];
    fibers_list(names, sizeof names);
    const workload *w = fibers_named(word);
    if (!w)
        usage_error("there is no row '%s' of %s; there are: %s", word, fibers_name, names);
    choose(o, w, word);
}

static void take_fibers(bench_options *o)
{
    if (o->jobs || o->workloads[0])
        usage_error("%s has a table of its own, so %s cannot be in it", fibers_name,
                    o->jobs ? jobs_name : o->workloads[0]->name);
    if (o->fibers)
        usage_error("%s is named twice", fibers_name);
    o->fibers = true;
}

static void take_arg(bench_options *o, const char *word)
{
    if (strcmp(word, fibers_name) == 0)
        take_fibers(o);
    else if (o->fibers)
        take_row(o, word);
    else if (strcmp(word, jobs_name) == 0)
        take_jobs(o);
    else
        take_workload(o, word);
}

static void take(bench_options *o, int letter)
{
    switch (letter) {
    case 'w':
        for_each_item(o, optarg, "--workers", take_workers);
        break;
    case 'R':
        for_each_item(o, optarg, "--runtimes", take_runtime);
        break;
    case 'r':
        o->repeat = (int)number_arg(optarg, "--repeat", 1, REPEATS_MAX);
        break;
    case 't':
        o->seconds = number_arg(optarg, "--timeout", 1, 86400);
        break;
    case 'n':
        o->size = optarg;
        break;
    case 'p':
        o->plot = optarg;
        break;
    case 'j':
        o->json = true;
        break;
    case 'q':
        o->quick = true;
        break;
    default:
        help();
        exit_ok();
    }
}

static void all_workloads(bench_options *o)
{
    const workload *all = o->fibers ? fibers_workloads : workloads;
    for (int i = 0; all[i].name; i++)
        o->workloads[i] = &all[i];
}

static void all_runtimes(bench_options *o)
{
    for (int i = 0; runtimes[i].name; i++)
        o->runtimes[i] = &runtimes[i];
}

/* What was not said. */
static void fill_up(bench_options *o)
{
    if (!o->workloads[0])
        all_workloads(o);
    if (!o->runtimes[0])
        all_runtimes(o);
    if (o->workers[0] == 0) {
        o->workers[0] = 1;
        o->workers[1] = filch_cpu_count() > 1 ? filch_cpu_count() : 0;
    }
    if (o->repeat == 0)
        o->repeat = o->quick ? QUICK_REPEAT : USUAL_REPEAT;
}

/* Its rows, columns and sizes are given. */
static void check_jobs(const bench_options *o)
{
    if (o->workloads[0])
        usage_error("%s has a table of its own, so %s cannot be in it", jobs_name,
                    o->workloads[0]->name);
    if (o->runtimes[0] || o->size)
        usage_error("%s is not for %s", o->size ? "--size" : "--runtimes", jobs_name);
}

/* A picture of ratios would have to leave most of it out: bytes, lateness, goals. */
static void check_fibers(const bench_options *o)
{
    if (o->runtimes[0] || o->size || o->plot)
        usage_error("%s is not for %s",
                    o->size   ? "--size"
                    : o->plot ? "--plot"
                              : "--runtimes",
                    fibers_name);
}

static void check(const bench_options *o)
{
    if (o->jobs)
        check_jobs(o);
    if (o->fibers)
        check_fibers(o);
    if (o->size && (!o->workloads[0] || o->workloads[1]))
        usage_error("--size is for one workload, which has to be named");
    if (o->size && o->quick)
        usage_error("--size and --quick both tell the size");
    const char *why = o->plot ? gnuplot_refuses(o->plot) : NULL;
    if (why)
        usage_error("--plot '%s': %s", o->plot, why);
}

bench_options bench_options_read(int argc, char **argv)
{
    static const struct option known[] = {
        {"workers", required_argument, NULL, 'w'}, {"runtimes", required_argument, NULL, 'R'},
        {"repeat", required_argument, NULL, 'r'},  {"timeout", required_argument, NULL, 't'},
        {"size", required_argument, NULL, 'n'},    {"plot", required_argument, NULL, 'p'},
        {"json", no_argument, NULL, 'j'},          {"quick", no_argument, NULL, 'q'},
        {"help", no_argument, NULL, 'h'},          {0},
    };
    bench_options o = {.seconds = USUAL_SECONDS};
    opterr = 0;
    for (int letter; (letter = getopt_long(argc, argv, ":h", known, NULL)) != -1;) {
        if (letter == '?' || letter == ':')
            option_error(letter, argv);
        take(&o, letter);
    }
    for (int i = optind; i < argc; i++)
        take_arg(&o, argv[i]);
    check(&o);
    fill_up(&o);
    return o;
}
