#include "words.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* An earlier write may have failed. */
bool is_printed(void)
{
    if (fflush(stdout) != 0)
        perror("filch: stdout: cannot write all output");
    else if (ferror(stdout))
        fprintf(stderr, "filch: stdout: cannot write all output\n");
    else
        return true;
    return false;
}

_Noreturn void end_well(void)
{
    exit(is_printed() ? ENDS_WELL : ENDS_FAILED);
}

_Noreturn void misused(const char *format, ...)
{
    va_list args;
    fputs("filch: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(ENDS_MISUSED);
}

long number_in(const char *word, const char *what, long least, long most)
{
    char *end;
    errno = 0;
    long value = strtol(word, &end, 10);
    if (word[0] < '0' || word[0] > '9' || *end != '\0' || errno != 0 || value < least ||
        value > most)
        misused("%s takes a number from %ld to %ld, and not '%s'", what, least, most, word);
    return value;
}

_Noreturn void misused_option(int answer, char **argv)
{
    const char *word = argv[optind - 1];
    if (answer == ':')
        misused("'%s' needs a value", word);
    if (optopt != 0 && word[0] == '-' && word[1] == '-')
        misused("'%s' takes no value", word);
    if (optopt != 0)
        misused("'-%c' is no option; see --help", optopt);
    misused("'%s' is no option; see --help", word);
}
