/* filch cluster: run the programs that belong to filch-mpi. */
#include "args.h"
#include "command.h"
#include "passthrough.h"
#include "programs.h"

#include <stdio.h>
#include <string.h>

typedef struct part {
    const char *name, *program, *about;
} part;

/* Terminated by an entry without a name. */
static const part parts[] = {
    {"sim", "cluster-sim", "simulate the protocol of filch-mpi with up to 16,384 ranks"},
    {0},
};

static const struct option known[] = {COMMON_OPTIONS};

static void cluster_help(void)
{
    printf("usage: filch cluster sim [OPTION...]\n\n"
           "Commands for programs that run as several processes with filch-mpi.\n\n");
    for (const part *p = parts; p->name; p++)
        printf("  %-8s %s\n", p->name, p->about);
    printf("\n  -h, --help            print this text\n"
           "  -V, --version         print the version\n\n"
           "Run 'filch cluster COMMAND --help' for the options of a command.\n");
}

static const part *part_named(const char *word)
{
    nearest n = {.word = word};

    for (const part *p = parts; p->name; p++) {
        if (strcmp(word, p->name) == 0)
            return p;
        nearest_offer(&n, p->name);
    }
    if (n.name)
        usage_error("unknown command 'cluster %s'; did you mean 'cluster %s'?", word, n.name);
    usage_error("unknown command 'cluster %s'; run 'filch cluster --help' for a list", word);
}

/* Run the program in place of this one.  argv: the arguments, after an entry for its path. */
static int part_run(const part *p, char **argv)
{
    char path[PROGRAM_PATH];

    if (!program_find(p->program, path, sizeof path)) {
        fprintf(stderr, "filch: cluster %s: cannot find the program '%s'; install it with filch\n",
                p->name, path);
        return EXIT_FAILED;
    }
    argv[0] = path;
    return passthrough_exec(argv);
}

int command_cluster(int argc, char **argv)
{
    next_option(argc, argv, "+:hV", known, cluster_help);
    if (optind == argc)
        usage_error("cluster needs a command; run 'filch cluster --help' for a list");
    return part_run(part_named(argv[optind]), argv + optind);
}
