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

/* Terminated by an entry without a name. */
static const command commands[] = {
    {"bench", "compare workloads on Filch and other runtimes", command_bench},
    {"run", "run one workload on Filch and print its counters", command_run},
    {"lab", "reproduce the published figures and compare", command_lab},
    {"scale", "measure work and span of a program, predict its speed-up", command_scale},
    {"top", "show workers and fibers of a running process", command_top},
    {0},
};

static void print_help(void)
{
    printf("usage: filch COMMAND [...]\n\n");
    for (const command *c = commands; c->name; c++)
        printf("  %-8s %s\n", c->name, c->about);
    printf("  %-8s %s\n  %-8s %s\n\nRun 'filch COMMAND --help' for its options.\n", "help",
           "print this text", "version", "print the version");
}

static int is_option(const char *word, const char *name, const char *option)
{
    return strcmp(word, name) == 0 || strcmp(word, option) == 0;
}

static int dispatch(int argc, char **argv)
{
    const char *word = argv[1];
    for (const command *c = commands; c->name; c++)
        if (strcmp(word, c->name) == 0)
            return c->run(argc - 1, argv + 1);
    if (!is_option(word, "help", "--help") && !is_option(word, "version", "--version"))
        usage_error("unknown command '%s'; run 'filch help' for a list", word);
    if (argc > 2)
        usage_error("%s takes no arguments (got '%s')", word, argv[2]);
    if (is_option(word, "help", "--help"))
        print_help();
    else
        printf("filch %s\n", filch_version());
    return EXIT_OK;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        usage_error("missing command; run 'filch help' for a list");
    int end = dispatch(argc, argv);
    return flush_output() || end != EXIT_OK ? end : EXIT_FAILED;
}
