/* Parse and check the arguments of `filch bench`. */
#include "bench_options.h"

#include "args.h"
#include "fibers_cases.h"
#include "gnuplot.h"
#include "scale_out_rows.h"
#include "series.h"

#include <filch/runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_REPEAT = 5, QUICK_REPEAT = 3, USUAL_SECONDS = 600, WORKERS_MAX = 1024 };

static void print_catalog(const char *title, const workload *all,
                          const char *(*name)(const workload *))
{
    printf("\n%s\n", title);
    for (const workload *w = all; w->name; w++)
        printf("  %-18s %s\n", name(w), w->about);
}

static const char *name_of(const workload *w)
{
    return w->name;
}

static const char usual_workers[] = "1 and the number of CPUs";

/* The options that all forms have.  workers: the default of --workers. */
static void print_options(const char *workers, bool has_plot)
{
    printf("  --workers LIST     numbers of workers, such as 1,2 (%s)\n"
           "  --repeat N         calls of each program, 1 to %d (%d, with --quick %d)\n"
           "  --quick            small sizes that take seconds\n"
           "  --json             print lines of JSON with all samples instead of the table\n",
           workers, REPEATS_MAX, USUAL_REPEAT, QUICK_REPEAT);
    if (has_plot)
        printf("  --plot FILE        also write a plot to FILE, .svg or .png (needs gnuplot)\n");
    printf("  --timeout SECONDS  time limit of one call (%d)\n"
           "  -h, --help         print this text\n"
           "  -V, --version      print the version\n",
           USUAL_SECONDS);
}

static void jobs_help(void)
{
    printf(
        "usage: filch bench jobs [OPTION...]\n\n"
        "Measures many small jobs on a classical job system and on Filch, and prints a table.\n\n");
    print_options(usual_workers, true);
}

static void fibers_help(void)
{
    printf(
        "usage: filch bench fibers [CASE...] [OPTION...]\n\n"
        "Measures CPU time and memory of fibers, channels, timers and HTTP, compared with Go.\n\n");
    print_options(usual_workers, false);
    printf(
        "\nWithout --repeat, parked has 2 calls and HTTP has 3.  All cases take 5 to 8 minutes.\n");
    print_catalog("cases", fibers_workloads, fibers_arg);
}

static void scale_out_help(void)
{
    printf("usage: filch bench scale-out [WORKLOAD...] [OPTION...]\n\n"
           "Measures workloads on Filch with more and more workers, also with more workers than "
           "CPUs, and\nprints wall times, CPU times and their ratios.\n\n");
    print_options("1,2,4,8,16,64", false);
    print_catalog("workloads", scale_out_workloads, scale_out_arg);
}

static void bench_help(void)
{
    printf("usage: filch bench [WORKLOAD...] [OPTION...]\n"
           "       filch bench jobs [OPTION...]\n"
           "       filch bench fibers [CASE...] [OPTION...]\n"
           "       filch bench scale-out [WORKLOAD...] [OPTION...]\n"
           "       filch bench run WORKLOAD [OPTION...]\n\n"
           "Measures workloads on Filch and on the other runtimes that are installed, and prints a "
           "table.\n"
           "Rounds alternate between the runtimes.\n\n"
           "  --runtimes LIST    the runtimes to measure (all)\n"
           "  --size N           the size of the workload; needs exactly one workload\n");
    print_options(usual_workers, true);
    printf("\nother tables\n"
           "  %-18s %s\n  %-18s %s\n  %-18s %s\n  %-18s %s\n",
           jobs_name, "many small jobs, on a classical job system and on Filch", fibers_name,
           "CPU time and memory of fibers, channels, timers and HTTP, compared with Go",
           scale_out_name, "wall time and CPU time with more workers than CPUs", "run",
           "one workload on Filch, with the counters of its workers");
    print_catalog("workloads", workloads, name_of);
    printf("\nruntimes\n");
    for (const contender *r = runtimes; r->name; r++)
        printf("  %-18s %s\n", r->name, r->about);
    print_catalog("cases of fibers", fibers_workloads, fibers_arg);
}

/* The name of another table, or NULL. */
static const char *table_named(const char *word)
{
    static const char *const names[] = {jobs_name, fibers_name, scale_out_name};
    for (int i = 0; i < 3; i++)
        if (strcmp(word, names[i]) == 0)
            return names[i];
    return NULL;
}

static void (*help_for(const char *word))(void)
{
    const char *table = word ? table_named(word) : NULL;
    if (table == jobs_name)
        return jobs_help;
    if (table == fibers_name)
        return fibers_help;
    return table ? scale_out_help : bench_help;
}

/* Call `take` for each item of a comma-separated list. */
static void for_each_item(bench_options *o, const char *list, const char *option,
                          void (*take)(bench_options *o, const char *word))
{
    char word[64];
    for (const char *p = list;; p++) {
        size_t length = strcspn(p, ",");
        if (length == 0 || length >= sizeof word)
            usage_error("%s takes a comma-separated list (got '%s')", option, list);
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
            usage_error("--workers: %u is given twice", workers);
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
        usage_error("unknown runtime '%s'; choose from: %s", word, names);
    int i = 0;
    for (; o->runtimes[i]; i++)
        if (o->runtimes[i] == r)
            usage_error("--runtimes: %s is given twice", word);
    o->runtimes[i] = r;
}

/* Each may be named once. */
static void bench_choose(bench_options *o, const workload *w, const char *word)
{
    int i = 0;
    for (; o->workloads[i]; i++)
        if (o->workloads[i] == w)
            usage_error("%s is given twice", word);
    o->workloads[i] = w;
}

static void take_workload(bench_options *o, const char *word)
{
    char names[256];
    list_workloads(names, sizeof names);
    const workload *w = workload_named(word);
    if (!w)
        usage_error("unknown workload '%s'; choose from: %s", word, names);
    bench_choose(o, w, word);
}

static void take_case(bench_options *o, const char *word)
{
    char names[512];
    fibers_list(names, sizeof names);
    const workload *w = fibers_named(word);
    if (!w)
        usage_error("unknown case '%s' of %s; choose from: %s", word, fibers_name, names);
    bench_choose(o, w, word);
}

static void take_scale_out_workload(bench_options *o, const char *word)
{
    char names[256];
    scale_out_list(names, sizeof names);
    const workload *w = scale_out_named(word);
    if (!w)
        usage_error("unknown workload '%s' of %s; choose from: %s", word, scale_out_name, names);
    bench_choose(o, w, word);
}

static void take_table(bench_options *o, const char *table)
{
    if (o->table == table)
        usage_error("%s is given twice", table);
    if (o->table || o->workloads[0])
        usage_error("%s has its own table and cannot be combined with %s", table,
                    o->table ? o->table : o->workloads[0]->name);
    o->table = table;
}

/* The arguments after fibers and scale-out name their own workloads. */
static void take_arg(bench_options *o, const char *word)
{
    const char *table = table_named(word);
    bool is_again = table && table == o->table;
    if (o->table == fibers_name && !is_again)
        take_case(o, word);
    else if (o->table == scale_out_name && !is_again)
        take_scale_out_workload(o, word);
    else if (table)
        take_table(o, table);
    else
        take_workload(o, word);
}

static void bench_take_option(bench_options *o, int letter)
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
    }
}

static void all_workloads(bench_options *o)
{
    const workload *all = o->table == fibers_name      ? fibers_workloads
                          : o->table == scale_out_name ? scale_out_workloads
                                                       : workloads;
    for (int i = 0; all[i].name; i++)
        o->workloads[i] = &all[i];
}

static void all_runtimes(bench_options *o)
{
    for (int i = 0; runtimes[i].name; i++)
        o->runtimes[i] = &runtimes[i];
}

static void all_workers(bench_options *o)
{
    if (o->table == scale_out_name) {
        for (int i = 0; scale_out_workers[i] != 0; i++)
            o->workers[i] = scale_out_workers[i];
        return;
    }
    o->workers[0] = 1;
    o->workers[1] = filch_cpu_count() > 1 ? filch_cpu_count() : 0;
}

/* Defaults. */
static void fill_up(bench_options *o)
{
    if (!o->workloads[0])
        all_workloads(o);
    if (!o->runtimes[0])
        all_runtimes(o);
    if (o->workers[0] == 0)
        all_workers(o);
    o->repeat_is_usual = o->repeat == 0 && !o->quick;
    if (o->repeat == 0)
        o->repeat = o->quick ? QUICK_REPEAT : USUAL_REPEAT;
}

/* Rows, columns and sizes of this table are fixed. */
static void check_jobs(const bench_options *o)
{
    if (o->workloads[0])
        usage_error("%s has its own table and cannot be combined with %s", jobs_name,
                    o->workloads[0]->name);
    if (o->runtimes[0] || o->size)
        usage_error("%s does not apply to %s", o->size ? "--size" : "--runtimes", jobs_name);
}

/* A plot of ratios to a serial program could show neither the metrics of fibers nor two times for
 * each number of workers. */
static void check_without_plot(const bench_options *o)
{
    if (o->runtimes[0] || o->size || o->plot)
        usage_error("%s does not apply to %s",
                    o->size   ? "--size"
                    : o->plot ? "--plot"
                              : "--runtimes",
                    o->table);
}

/* One of the numbers of workers is the base of the ratios. */
static void check_scale_out(const bench_options *o)
{
    unsigned cpus = filch_cpu_count();
    bool has_base = o->workers[0] == 0; /* the default has 1 */
    for (int i = 0; o->workers[i] != 0; i++)
        has_base |= o->workers[i] <= cpus;
    if (!has_base)
        usage_error("%s: --workers needs a number up to the number of CPUs (%u), for the ratios",
                    scale_out_name, cpus);
}

static void bench_check(const bench_options *o)
{
    if (o->table == jobs_name)
        check_jobs(o);
    else if (o->table)
        check_without_plot(o);
    if (o->table == scale_out_name)
        check_scale_out(o);
    if (o->size && (!o->workloads[0] || o->workloads[1]))
        usage_error("--size needs exactly one workload");
    if (o->size && o->quick)
        usage_error("--size and --quick exclude each other");
    const char *why = o->plot ? gnuplot_check_file(o->plot) : NULL;
    if (why)
        usage_error("--plot '%s': %s", o->plot, why);
}

bench_options bench_options_read(int argc, char **argv)
{
    static const struct option known[] = {
        {"workers", required_argument, NULL, 'w'},
        {"runtimes", required_argument, NULL, 'R'},
        {"repeat", required_argument, NULL, 'r'},
        {"timeout", required_argument, NULL, 't'},
        {"size", required_argument, NULL, 'n'},
        {"plot", required_argument, NULL, 'p'},
        {"json", no_argument, NULL, 'j'},
        {"quick", no_argument, NULL, 'q'},
        COMMON_OPTIONS,
    };
    bench_options o = {.seconds = USUAL_SECONDS};
    void (*print_help)(void) = help_for(argc > 1 ? argv[1] : NULL);
    for (int letter; (letter = next_option(argc, argv, ":hV", known, print_help)) != -1;)
        bench_take_option(&o, letter);
    for (int i = optind; i < argc; i++)
        take_arg(&o, argv[i]);
    bench_check(&o);
    fill_up(&o);
    return o;
}
