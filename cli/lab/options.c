/* Parse the arguments of `filch lab`, for lab.c. */
#include "options.h"

#include "args.h"
#include "series.h"

#include <filch/runtime.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_SECONDS = 600, WORKERS_MAX = 1024 };

static void lab_help(void)
{
    printf(
        "usage: filch lab EXPERIMENT [OPTION...]\n"
        "       filch lab all --out DIR [OPTION...]\n"
        "       filch lab report --out DIR\n"
        "       filch lab csv FILE\n\n"
        "Reproduces published figures with measurements of this machine, and compares the "
        "results.\n\n"
        "  --out DIR          keep measurements in DIR/raw, and write DIR/report.html.  The same "
        "command\n"
        "                     continues an interrupted run\n"
        "  --restart          discard the measurements of an earlier run in DIR\n"
        "  --quick            small sizes\n"
        "  --repeat N         calls of each program, 1 to %d (set by the experiment)\n"
        "  --workers N        max number of workers, 1 to %d (the number of CPUs)\n"
        "  --timeout SECONDS  time limit of one call (%d)\n"
        "  -h, --help         print this text\n"
        "  -V, --version      print the version\n\nexperiments\n",
        REPEATS_MAX, WORKERS_MAX, USUAL_SECONDS);
    for (int i = 0; lab_experiments[i]; i++) {
        const lab_experiment *e = lab_experiments[i];
        printf("  %-18s %s\n", e->name, e->about);
        if (e->args)
            printf("  %-18s arguments: %s\n", "", e->args);
    }
    printf("  %-18s %s\n", "all", "all experiments, and a report");
    printf("  %-18s %s\n", "report", "write the report again, without measurements");
    printf("  %-18s %s\n", "csv", "print the samples that FILCH_SAMPLE wrote as CSV");
}

static void lab_take_option(lab_options *o, int letter)
{
    switch (letter) {
    case 'o':
        o->out = optarg;
        break;
    case 'a':
        o->restart = true;
        break;
    case 'q':
        o->quick = true;
        break;
    case 'r':
        o->repeat = (int)number_arg(optarg, "--repeat", 1, REPEATS_MAX);
        break;
    case 'w':
        o->workers = (unsigned)number_arg(optarg, "--workers", 1, WORKERS_MAX);
        break;
    case 't':
        o->seconds = number_arg(optarg, "--timeout", 1, 86400);
        break;
    }
}

static void list_experiments(char *out, size_t capacity)
{
    size_t used = 0;
    for (int i = 0; lab_experiments[i] && used < capacity; i++)
        used += (size_t)snprintf(out + used, capacity - used, "%s, ", lab_experiments[i]->name);
    if (used < capacity)
        snprintf(out + used, capacity - used, "all, report, csv");
}

static const lab_experiment *experiment_named(const char *word)
{
    for (int i = 0; lab_experiments[i]; i++)
        if (strcmp(lab_experiments[i]->name, word) == 0)
            return lab_experiments[i];
    char names[512];
    list_experiments(names, sizeof names);
    usage_error("unknown experiment '%s'; choose from: %s", word, names);
}

static void take_args(lab_chosen *chosen, char **args)
{
    const lab_experiment *e = chosen->all ? NULL : chosen->experiments[0];
    if (args[1] && (!e || !e->args))
        usage_error("%s takes no arguments (got '%s')", args[0], args[1]);
    for (int i = 0; args[i + 1]; i++) {
        if (i == LAB_ARGS)
            usage_error("%s takes at most %d arguments", args[0], LAB_ARGS);
        chosen->options.args[i] = args[i + 1];
    }
    const char *why = e && e->check_args ? e->check_args(&chosen->options) : NULL;
    if (why)
        usage_error("%s", why);
}

static void lab_choose(lab_chosen *chosen, char **args)
{
    char names[512];
    list_experiments(names, sizeof names);
    if (!args[0])
        usage_error("lab needs an experiment: %s", names);
    chosen->all = strcmp(args[0], "all") == 0;
    chosen->report = strcmp(args[0], "report") == 0;
    if (!chosen->all && !chosen->report)
        chosen->experiments[0] = experiment_named(args[0]);
    for (int i = 0; chosen->all && lab_experiments[i] && i < LAB_EXPERIMENTS_MAX; i++)
        chosen->experiments[i] = lab_experiments[i];
    take_args(chosen, args);
    if (!chosen->options.out && (chosen->all || chosen->report))
        usage_error("lab %s needs a directory for its report; give --out DIR", args[0]);
}

lab_chosen lab_options_read(int argc, char **argv)
{
    static const struct option known[] = {
        {"out", required_argument, NULL, 'o'},
        {"restart", no_argument, NULL, 'a'},
        {"quick", no_argument, NULL, 'q'},
        {"repeat", required_argument, NULL, 'r'},
        {"workers", required_argument, NULL, 'w'},
        {"timeout", required_argument, NULL, 't'},
        COMMON_OPTIONS,
    };
    lab_chosen chosen = {.options.seconds = USUAL_SECONDS};
    for (int letter; (letter = next_option(argc, argv, ":hV", known, lab_help)) != -1;)
        lab_take_option(&chosen.options, letter);
    lab_choose(&chosen, argv + optind);
    if (chosen.options.out && chosen.options.out[0] == '\0')
        usage_error("--out takes the name of a directory (got '')");
    if (chosen.options.workers == 0)
        chosen.options.workers = filch_cpu_count();
    return chosen;
}
