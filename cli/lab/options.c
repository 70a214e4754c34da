#include "options.h"

#include "args.h"
#include "series.h"

#include <filch/runtime.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_SECONDS = 600, WORKERS_MAX = 1024 };

static void help(void)
{
    printf("usage: filch lab EXPERIMENT [OPTION...]\n"
           "       filch lab all --out DIR [OPTION...]\n"
           "       filch lab report --out DIR\n"
           "       filch lab csv FILE\n\n"
           "Draws the figures again, from measurements of this machine, and says what "
           "they show.\n\n"
           "  --out DIR          keep what is measured in DIR/raw, and write DIR/report.html; who "
           "is interrupted\n"
           "                     goes on by the same words\n"
           "  --restart             forget what DIR has of an earlier run\n"
           "  --quick            small sizes, for a look\n"
           "  --repeat N         calls of each program, 1 to %d (as the experiment thinks right)\n"
           "  --workers N        the most workers, 1 to %d (as many as there are CPUs)\n"
           "  --timeout SECONDS  how long one call may take (%d)\n"
           "  --help             this text\n\nexperiments\n",
           REPEATS_MAX, WORKERS_MAX, USUAL_SECONDS);
    for (int i = 0; lab_experiments[i]; i++) {
        const lab_experiment *e = lab_experiments[i];
        printf("  %-18s %s\n", e->name, e->about);
        if (e->args)
            printf("  %-18s takes words: %s %s\n", "", e->name, e->args);
    }
    printf("  %-18s %s\n", "all", "all of them, and a report");
    printf("  %-18s %s\n", "report", "none: the report of what DIR has, once more");
}

static void take(lab_options *o, int letter)
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
    default:
        help();
        exit_ok();
    }
}

static void list(char *out, size_t capacity)
{
    size_t used = 0;
    for (int i = 0; lab_experiments[i] && used < capacity; i++)
        used += (size_t)snprintf(out + used, capacity - used, "%s, ", lab_experiments[i]->name);
    if (used < capacity)
        snprintf(out + used, capacity - used, "all");
}

static const lab_experiment *named(const char *word)
{
    for (int i = 0; lab_experiments[i]; i++)
        if (strcmp(lab_experiments[i]->name, word) == 0)
            return lab_experiments[i];
    char names[512];
    list(names, sizeof names);
    usage_error("there is no experiment '%s'; there are: %s", word, names);
}

static void take_rest(lab_chosen *chosen, char **words)
{
    const lab_experiment *e = chosen->all ? NULL : chosen->experiments[0];
    if (words[1] && (!e || !e->args))
        usage_error("'%s' takes no words, and was given '%s'", words[0], words[1]);
    for (int i = 0; words[i + 1]; i++) {
        if (i == LAB_ARGS)
            usage_error("'%s' takes no more than %d words", words[0], LAB_ARGS);
        chosen->options.args[i] = words[i + 1];
    }
    const char *why = e && e->refuses ? e->refuses(&chosen->options) : NULL;
    if (why)
        usage_error("%s", why);
}

static void choose(lab_chosen *chosen, char **words)
{
    char names[512];
    list(names, sizeof names);
    if (!words[0])
        usage_error("lab needs an experiment: %s", names);
    chosen->all = strcmp(words[0], "all") == 0;
    chosen->report = strcmp(words[0], "report") == 0;
    if (!chosen->all && !chosen->report)
        chosen->experiments[0] = named(words[0]);
    for (int i = 0; chosen->all && lab_experiments[i] && i < LAB_EXPERIMENTS_MAX; i++)
        chosen->experiments[i] = lab_experiments[i];
    take_rest(chosen, words);
    if (!chosen->options.out && (chosen->all || chosen->report))
        usage_error("lab %s needs a folder for its report: --out DIR", words[0]);
}

lab_chosen lab_options_read(int argc, char **argv)
{
    static const struct option known[] = {
        {"out", required_argument, NULL, 'o'},     {"restart", no_argument, NULL, 'a'},
        {"quick", no_argument, NULL, 'q'},         {"repeat", required_argument, NULL, 'r'},
        {"workers", required_argument, NULL, 'w'}, {"timeout", required_argument, NULL, 't'},
        {"help", no_argument, NULL, 'h'},          {0},
    };
    lab_chosen chosen = {.options.seconds = USUAL_SECONDS};
    opterr = 0;
    for (int letter; (letter = getopt_long(argc, argv, ":h", known, NULL)) != -1;) {
        if (letter == '?' || letter == ':')
            option_error(letter, argv);
        take(&chosen.options, letter);
    }
    choose(&chosen, argv + optind);
    if (chosen.options.out && chosen.options.out[0] == '\0')
        usage_error("--out takes the name of a folder, and not ''");
    if (chosen.options.workers == 0)
        chosen.options.workers = filch_cpu_count();
    return chosen;
}
