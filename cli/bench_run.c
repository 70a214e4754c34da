/* filch bench run: one workload on Filch, with the counters of its workers. */
#include "args.h"
#include "bench_options.h"
#include "json.h"
#include "programs.h"

#include <filch/runtime.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUN_SECONDS = 3600, WORKERS_MAX = 1024 };

static void run_help(void)
{
    printf("usage: filch bench run WORKLOAD [OPTION...]\n\n"
           "Runs one workload on Filch and prints its result, its time and the counters of each "
           "worker.\n\n"
           "  -w, --workers N       1 to %d (the number of CPUs)\n"
           "  -n, --size N          the size of the workload\n"
           "  -r, --repeat N        repetitions in one process, 1 to %d (1)\n"
           "      --deque KIND      deque of stealable tasks: locked, bounded or batch\n"
           "      --steal-batch K   max number of tasks per steal, 1 to 64\n"
           "      --publish POLICY  lazy (on request of a hungry worker) or eager (each task at "
           "once)\n"
           "      --stack-size SIZE of a fiber: bytes, or a number followed by k, m or g\n"
           "  -h, --help            print this text\n"
           "  -V, --version         print the version\n\nworkloads\n",
           WORKERS_MAX, SAMPLES_MAX);
    for (const workload *w = workloads; w->name; w++)
        printf("  %-18s %s\n", w->name, w->about);
}

/* The runtime reads its settings from the environment, and checks them itself. */
typedef struct setting {
    const char *variable, *option;
    bool is_given; /* by the option */
} setting;

static setting settings[] = {
    {.variable = "FILCH_DEQUE", .option = "--deque"},
    {.variable = "FILCH_STEAL_BATCH", .option = "--steal-batch"},
    {.variable = "FILCH_PUBLISH", .option = "--publish"},
    {.variable = "FILCH_STACK_SIZE", .option = "--stack-size"},
};
enum { SETTING_DEQUE, SETTING_STEAL_BATCH, SETTING_PUBLISH, SETTING_STACK_SIZE, SETTINGS };

static void take_setting(int which)
{
    set_variable(settings[which].variable, optarg);
    settings[which].is_given = true;
}

/* Rejects the arguments if this line of the runtime rejects one of them. */
static void check_settings(const char *line)
{
    static const char head[] = "filch: ";
    if (strncmp(line, head, strlen(head)) != 0)
        return;
    line += strlen(head);
    for (int i = 0; i < SETTINGS; i++) {
        size_t n = strlen(settings[i].variable);
        if (settings[i].is_given && strncmp(line, settings[i].variable, n) == 0 && line[n] == ':')
            usage_error("bench run: %s%s", settings[i].option, line + n);
    }
}

static void run_take_option(call *what, int letter)
{
    switch (letter) {
    case 'w':
        what->workers = (unsigned)number_arg(optarg, "--workers", 1, WORKERS_MAX);
        break;
    case 'n':
        what->size = optarg;
        break;
    case 'r':
        what->repetitions = (int)number_arg(optarg, "--repeat", 1, SAMPLES_MAX);
        break;
    case 'd':
        take_setting(SETTING_DEQUE);
        break;
    case 'k':
        take_setting(SETTING_STEAL_BATCH);
        break;
    case 'p':
        take_setting(SETTING_PUBLISH);
        break;
    case 's':
        take_setting(SETTING_STACK_SIZE);
        break;
    }
}

static const workload *the_workload(int argc, char **argv)
{
    char names[256];
    list_workloads(names, sizeof names);
    if (optind == argc)
        usage_error("bench run needs a workload: %s", names);
    if (optind + 1 < argc)
        usage_error("bench run takes one workload (got also '%s')", argv[optind + 1]);
    const workload *w = workload_named(argv[optind]);
    if (!w)
        usage_error("unknown workload '%s'; choose from: %s", argv[optind], names);
    return w;
}

static call read_args(int argc, char **argv)
{
    static const struct option known[] = {
        {"workers", required_argument, NULL, 'w'},     {"size", required_argument, NULL, 'n'},
        {"repeat", required_argument, NULL, 'r'},      {"deque", required_argument, NULL, 'd'},
        {"steal-batch", required_argument, NULL, 'k'}, {"publish", required_argument, NULL, 'p'},
        {"stack-size", required_argument, NULL, 's'},  COMMON_OPTIONS,
    };
    call what = {.runtime = "filch-counted", .repetitions = 1, .seconds = RUN_SECONDS};
    for (int letter; (letter = next_option(argc, argv, ":w:n:r:hV", known, run_help)) != -1;)
        run_take_option(&what, letter);
    what.workload = the_workload(argc, argv);
    set_variable("FILCH_STRICT", "1"); /* a wrong value must not be ignored */
    if (what.workers == 0)
        what.workers = filch_cpu_count();
    return what;
}

static void print_run(const call *what, const report *r)
{
    printf("%s, size %ld, on %u worker%s: result %" PRId64 "\n", what->workload->name, r->size,
           what->workers, what->workers == 1 ? "" : "s", r->result);
    for (int i = 0; i < r->count; i++)
        printf("%s%.3f ms", i == 0 ? "time: " : ", ", r->samples[i] * 1e3);
    printf("\npeak memory: %ld kB\n", r->peak_kb);
}

/* A row for each counter: the sum, then each worker. */
static void print_counters(const call *what, const char *counters)
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

int bench_run(int argc, char **argv)
{
    static child c;
    report r;
    bool is_usage_error;
    call what = read_args(argc, argv);
    if (!program_exists(what.workload, what.runtime)) {
        char why[512];
        program_why_missing(what.workload, what.runtime, why, sizeof why);
        fprintf(stderr, "filch: cannot run %s: %s\n", what.workload->name, why);
        return EXIT_FAILED;
    }
    child_catch_signals();
    const char *why = program_call(&what, &c, &r, &is_usage_error);
    if (why && is_usage_error)
        usage_error("bench run: %s", why);
    if (why) {
        check_settings(c.errors);
        fprintf(stderr, "filch: %s-%s %s\n", what.workload->program, what.runtime, why);
        return EXIT_FAILED;
    }
    print_run(&what, &r);
    if (r.counters)
        print_counters(&what, r.counters);
    return EXIT_OK;
}
