/* The command `filch`. */
#include "command.h"
#include "words.h"

#include <filch/version.h>
#include <stdio.h>
#include <string.h>

static void help(void)
{
    printf("usage: filch COMMAND [...]\n\n"
           "  bench    measure workloads on Filch and on its peers, and print a table\n"
           "  run      run one workload on Filch and print what its workers did\n"
           "  help     this text; filch bench --help and filch run --help tell more\n"
           "  version  which Filch this is\n");
}

static int is(const char *word, const char *name, const char *option)
{
    return strcmp(word, name) == 0 || strcmp(word, option) == 0;
}

static int dispatch(int argc, char **argv)
{
    const char *word = argv[1];
    if (strcmp(word, "bench") == 0)
        return command_bench(argc - 1, argv + 1);
    if (strcmp(word, "run") == 0)
        return command_run(argc - 1, argv + 1);
    if (!is(word, "help", "--help") && !is(word, "version", "--version"))
        misused("there is no command '%s'; filch help lists them", word);
    if (argc > 2)
        misused("'%s' takes no words, and was given '%s'", word, argv[2]);
    if (is(word, "help", "--help"))
        help();
    else
        printf("filch %s\n", filch_version());
    return ENDS_WELL;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        misused("a command is missing; filch help lists them");
    int end = dispatch(argc, argv);
    if (fflush(stdout) != 0 && end == ENDS_WELL) {
        perror("filch: what was to be printed");
        return ENDS_FAILED;
    }
    return end;
}
