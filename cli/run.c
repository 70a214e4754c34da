/* filch run: one workload on Filch, and what its workers did. */
#include "command.h"
#include "json.h"
#include "programs.h"
#include "words.h"

#include <filch/runtime.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { RUN_SECONDS = 3600, MOST_WORKERS = 1024 };

static void help(void)
{
    printf(
        "usage: filch run WORKLOAD [OPTION...]\n\n"
        "Runs one workload on Filch and prints its result, its time and what the workers did.\n\n"
        "  -w, --workers N       1 to %d (as many as there are CPUs)\n"
        "  -n, --size N          the size of the workload; a wrong one is answered with the range\n"
        "  -r, --repeat N        repetitions in one process, 1 to %d (1)\n"
        "      --deque KIND      what stealable tasks lie in: locked, bounded, batch or half\n"
        "      --steal-batch K   the most tasks that one steal takes, 1 to 64\n"
        "      --publish POLICY  lazy (when somebody is hungry) or eager (each task at once)\n"
        "      --stack-size SIZE of a fiber: bytes, or with k, m or g behind the number\n"
        "      --help            this text\n\nworkloads\n",
        MOST_WORKERS, MOST_SAMPLES);
    for (const workload *w = workloads; w->name; w++)
        printf("  %-18s %s\n", w->name, w->about);
}

/* The runtime reads its settings from the environment, and says itself what is wrong with them. */
static void set(const char *name)
{
    if (setenv(name, optarg, 1) != 0)
        misused("no memory for the environment");
}

static void take(call *what, int letter)
{
    switch (letter) {
    case 'w':
        what->workers = (unsigned)number_in(optarg, "--workers", 1, MOST_WORKERS);
        break;
    case 'n':
        what->size = optarg;
        break;
    case 'r':
        what->repetitions = (int)number_in(optarg, "--repeat", 1, MOST_SAMPLES);
        break;
    case 'd':
        set("FILCH_DEQUE");
        break;
    case 'k':
        set("FILCH_STEAL_BATCH");
        break;
    case 'p':
        set("FILCH_PUBLISH");
        break;
    case 's':
        set("FILCH_STACK_SIZE");
        break;
    default:
        help();
        end_well();
    }
}

static const workload *the_workload(int argc, char **argv)
{
    char names[256];
    list_workloads(names, sizeof names);
    if (optind == argc)
        misused("run needs the name of a workload: %s", names);
    if (optind + 1 < argc)
        misused("run takes one workload, and was given '%s' too", argv[optind + 1]);
    const workload *w = workload_named(argv[optind]);
    if (!w)
        misused("there is no workload '%s'; there are: %s", argv[optind], names);
    return w;
}

static call read_words(int argc, char **argv)
{
    static const struct option known[] = {
        {"workers", required_argument, NULL, 'w'},
        {"size", required_argument, NULL, 'n'},
        {"repeat", required_argument, NULL, 'r'},
        {"deque", required_argument, NULL, 'd'},
        {"steal-batch", required_argument, NULL, 'k'},
        {"publish", required_argument, NULL, 'p'},
        {"stack-size", required_argument, NULL, 's'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    call what = {.runtime = "filch-counted", .repetitions = 1, .seconds = RUN_SECONDS};
    opterr = 0;
    for (int letter; (letter = getopt_long(argc, argv, ":w:n:r:h", known, NULL)) != -1;) {
        if (letter == '?' || letter == ':')
            misused_option(letter, argv);
        take(&what, letter);
    }
    what.workload = the_workload(argc, argv);
    if (what.workers == 0)
        what.workers = filch_cpu_count();
    return what;
}

static void show_run(const call *what, const report *r)
{
    printf("%s, size %ld, on %u worker%s: result %" PRId64 "\n", what->workload->name, r->size,
           what->workers, what->workers == 1 ? "" : "s", r->result);
    for (int i = 0; i < r->count; i++)
        printf("%s%.3f ms", i == 0 ? "time: " : ", ", r->samples[i] * 1e3);
    printf("\npeak memory: %ld kB\n", r->peak_kb);
}

/* A row for each counter: the sum, then each worker. */
static void show_counters(const call *what, const char *counters)
{
    printf("\n%-28s %14s", "counter", "all");
    for (unsigned w = 0; w < what->workers; w++)
        printf("  %8s %-3u", "worker", w);
    printf("\n");
    for (const char *m = json_begin(counters); m; m = json_next(m)) {
        char name[32] = "?";
        json_string(m, name, sizeof name);
        printf("%-28s", name);
        int column = 0;
        for (const char *v = json_begin(json_value(m)); v; v = json_next(v)) {
            double value = 0;
            json_number(v, &value);
            printf(column++ == 0 ? " %14.0f" : "  %12.0f", value);
        }
        printf("\n");
    }
}

int command_run(int argc, char **argv)
{
    static child c;
    report r;
    bool is_misused;
    call what = read_words(argc, argv);
    if (!program_exists(what.workload, what.runtime)) {
        char why[512];
        program_why_missing(what.workload, what.runtime, why, sizeof why);
        fprintf(stderr, "filch: %s cannot be run: %s\n", what.workload->name, why);
        return ENDS_FAILED;
    }
    child_catch_signals();
    const char *why = program_call(&what, &c, &r, &is_misused);
    if (why) {
        fprintf(stderr, "filch: %s-%s %s\n", what.workload->program, what.runtime, why);
        return is_misused ? ENDS_MISUSED : ENDS_FAILED;
    }
    show_run(&what, &r);
    if (r.counters)
        show_counters(&what, r.counters);
    return ENDS_WELL;
}
