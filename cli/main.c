/* The command `filch`. */
#include "args.h"
#include "command.h"

#include <filch/version.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

typedef struct command {
    const char *name, *about;
    int (*run)(int argc, char **argv);
} command;

/* Ended by one without a name. */
static const command commands[] = {
    {"bench", "measure workloads on Filch and on its peers, and print a table", command_bench},
    {"run", "run one workload on Filch and print what its workers did", command_run},
    {"lab", "draw the figures of the seeds anew, and say what they show", command_lab},
    {"scale", "say how many workers a program could use", command_scale},
    {"top", "show what the workers and fibers of a process do, live", command_top},
    {0},
};

static void help(void)
{
    printf("usage: filch COMMAND [...]\n\n");
    for (const command *c = commands; c->name; c++)
        printf("  %-8s %s\n", c->name, c->about);
    printf("  %-8s %s\n  %-8s %s\n\nfilch COMMAND --help tells more.\n", "help", "this text",
           "version", "which Filch this is");
}

static int is(const char *word, const char *name, const char *option)
{
    return strcmp(word, name) == 0 || strcmp(word, option) == 0;
}

static int dispatch(int argc, char **argv)
{
    const char *word = argv[1];
    for (const command *c = commands; c->name; c++)
        if (strcmp(word, c->name) == 0)
            return c->run(argc - 1, argv + 1);
    if (!is(word, "help", "--help") && !is(word, "version", "--version"))
        usage_error("there is no command '%s'; filch help lists them", word);
    if (argc > 2)
        usage_error("'%s' takes no words, and was given '%s'", word, argv[2]);
    if (is(word, "help", "--help"))
        help();
    else
        printf("filch %s\n", filch_version());
    return EXIT_OK;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        usage_error("a command is missing; filch help lists them");
    int end = dispatch(argc, argv);
    return flush_output() || end != EXIT_OK ? end : EXIT_FAILED;
}
