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
    {"run", "run a program with settings of Filch", command_run},
    {"trace", "run a program and write a trace of its workers and fibers", command_trace},
    {"scale", "measure work and span of a program, predict its speed-up", command_scale},
    {"top", "show workers and fibers of a running process", command_top},
    {"dump", "list the fibers of a running process, with backtraces", command_dump},
    {"info", "print what a bug report needs: build, machine, limits", command_info},
    {"bench", "compare workloads on Filch and other runtimes", command_bench},
    {"lab", "reproduce the published figures and compare", command_lab},
    {"cluster", "simulate a program on several processes", command_cluster},
    {0},
};

static void print_help(void)
{
    printf("usage: filch COMMAND [...]\n\n");
    for (const command *c = commands; c->name; c++)
        printf("  %-8s %s\n", c->name, c->about);
    printf("  %-8s %s\n  %-8s %s\n\nRun 'filch help COMMAND' for its options.\n", "help",
           "print this text, or the options of a command", "version", "print the version");
}

static bool is_one_of(const char *word, const char *name, const char *letter, const char *option)
{
    return strcmp(word, name) == 0 || strcmp(word, letter) == 0 || strcmp(word, option) == 0;
}

static const command *command_named(const char *word)
{
    nearest n = {.word = word};
    nearest_offer(&n, "help");
    nearest_offer(&n, "version");
    for (const command *c = commands; c->name; c++) {
        if (strcmp(word, c->name) == 0)
            return c;
        nearest_offer(&n, c->name);
    }
    if (n.name)
        usage_error("unknown command '%s'; did you mean '%s'?", word, n.name);
    usage_error("unknown command '%s'; run 'filch help' for a list", word);
}

static void help_help(void)
{
    printf("usage: filch help [COMMAND]\n\n"
           "Prints the commands, or the options of a command.\n\n"
           "  -h, --help            print this text\n"
           "  -V, --version         print the version\n");
}

static void version_help(void)
{
    printf("usage: filch version\n\n"
           "Prints the version.\n\n"
           "  -h, --help            print this text\n"
           "  -V, --version         print the version\n");
}

static const struct option common_options[] = {COMMON_OPTIONS};

static int version(int argc, char **argv)
{
    next_option(argc, argv, "+:hV", common_options, version_help);
    if (optind < argc)
        usage_error("%s takes no arguments (got '%s')", argv[0], argv[optind]);
    printf("filch %s\n", filch_version());
    return EXIT_OK;
}

/* Is it a part of a command, such as `bench run`? */
static bool is_part_of(const char *name, const char *word)
{
    static const char *const parts[][2] = {{"bench", "run"},
                                           {"bench", "jobs"},
                                           {"bench", "fibers"},
                                           {"bench", "scale-out"},
                                           {"cluster", "sim"}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(name, parts[i][0]) == 0 && strcmp(word, parts[i][1]) == 0)
            return true;
    return false;
}

/* The help of a command or of a part. */
static int help_of(int argc, char **argv)
{
    bool is_part = argc == 2 && is_part_of(argv[0], argv[1]);
    if (argc > 1 && !is_part)
        usage_error("help takes one command (got also '%s')", argv[1]);
    if (strcmp(argv[0], "help") == 0 || strcmp(argv[0], "version") == 0) {
        (argv[0][0] == 'h' ? help_help : version_help)();
        return EXIT_OK;
    }
    char option[] = "--help";
    char *args[] = {argv[0], is_part ? argv[1] : option, is_part ? option : NULL, NULL};
    return command_named(argv[0])->run(argc + 1, args);
}

static int help(int argc, char **argv)
{
    next_option(argc, argv, "+:hV", common_options, help_help);
    if (optind < argc) {
        int first = optind;
        optind = 0; /* the command reads its arguments from the start */
        return help_of(argc - first, argv + first);
    }
    print_help();
    return EXIT_OK;
}

static int dispatch(int argc, char **argv)
{
    if (is_one_of(argv[0], "help", "-h", "--help"))
        return help(argc, argv);
    if (is_one_of(argv[0], "version", "-V", "--version"))
        return version(argc, argv);
    return command_named(argv[0])->run(argc, argv);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        usage_error("missing command; run 'filch help' for a list");
    int end = dispatch(argc - 1, argv + 1);
    return flush_output() || end != EXIT_OK ? end : EXIT_FAILED;
}
