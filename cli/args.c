/* Parse numbers and options, and report usage errors, for all commands. */
#include "args.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* An earlier write may have failed. */
bool flush_output(void)
{
    if (fflush(stdout) != 0)
        perror("filch: stdout: cannot write all output");
    else if (ferror(stdout))
        fprintf(stderr, "filch: stdout: cannot write all output\n");
    else
        return true;
    return false;
}

_Noreturn void exit_ok(void)
{
    exit(flush_output() ? EXIT_OK : EXIT_FAILED);
}

_Noreturn void usage_error(const char *format, ...)
{
    va_list args;
    fputs("filch: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(EXIT_USAGE);
}

long number_arg(const char *word, const char *what, long min, long max)
{
    char *end;
    errno = 0;
    long value = strtol(word, &end, 10);
    if (word[0] < '0' || word[0] > '9' || *end != '\0' || errno != 0 || value < min || value > max)
        usage_error("%s takes a number from %ld to %ld (got '%s')", what, min, max, word);
    return value;
}

_Noreturn void option_error(int answer, char **argv)
{
    const char *word = argv[optind - 1];
    if (answer == ':')
        usage_error("option '%s' needs a value", word);
    if (optopt != 0 && word[0] == '-' && word[1] == '-')
        usage_error("option '%s' takes no value", word);
    if (optopt != 0)
        usage_error("unknown option '-%c'; see --help", optopt);
    usage_error("unknown option '%s'; see --help", word);
}
