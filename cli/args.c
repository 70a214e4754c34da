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

long number_arg(const char *word, const char *what, long least, long most)
{
    char *end;
    errno = 0;
    long value = strtol(word, &end, 10);
    if (word[0] < '0' || word[0] > '9' || *end != '\0' || errno != 0 || value < least ||
        value > most)
        usage_error("%s takes a number from %ld to %ld, and not '%s'", what, least, most, word);
    return value;
}

_Noreturn void option_error(int answer, char **argv)
{
    const char *word = argv[optind - 1];
    if (answer == ':')
        usage_error("'%s' needs a value", word);
    if (optopt != 0 && word[0] == '-' && word[1] == '-')
        usage_error("'%s' takes no value", word);
    if (optopt != 0)
        usage_error("'-%c' is no option; see --help", optopt);
    usage_error("'%s' is no option; see --help", word);
}
