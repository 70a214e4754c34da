/* Parse numbers and options, and report usage errors, for all commands. */
#include "args.h"

#include <errno.h>
#include <filch/version.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void set_variable(const char *name, const char *value)
{
    if (setenv(name, value, 1) != 0)
        usage_error("out of memory for the environment");
}

/* ---- misspelled names ---- */

enum { NAME_MAX_LENGTH = 32 };

static unsigned min_of(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* The number of letters to insert, delete or replace (Levenshtein), row by row.  b is not longer
 * than NAME_MAX_LENGTH. */
static unsigned edit_distance(const char *a, const char *b)
{
    unsigned row[NAME_MAX_LENGTH + 1], length = (unsigned)strlen(b);
    for (unsigned j = 0; j <= length; j++)
        row[j] = j;
    for (unsigned i = 0; a[i]; i++) {
        unsigned diagonal = row[0];
        row[0] = i + 1;
        for (unsigned j = 0; j < length; j++) {
            unsigned replaced = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            row[j + 1] = min_of(replaced, min_of(row[j], diagonal) + 1);
        }
    }
    return row[length];
}

void nearest_offer(nearest *n, const char *name)
{
    size_t length = strlen(name);
    if (length > NAME_MAX_LENGTH || strlen(n->word) > NAME_MAX_LENGTH)
        return;
    unsigned distance = edit_distance(n->word, name);
    if (distance <= 1 + length / 4 && (!n->name || distance < n->distance)) {
        n->name = name;
        n->distance = distance;
    }
}

/* ---- options ---- */

static _Noreturn void unknown_option(const char *word, const struct option *known)
{
    char name[256];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    nearest n = {.word = name};
    for (const struct option *k = known; k->name; k++)
        nearest_offer(&n, k->name);
    if (n.name)
        usage_error("unknown option '%s'; did you mean '--%s'?", word, n.name);
    usage_error("unknown option '%s'; see --help", word);
}

/* The answers '?' and ':' of getopt_long. */
static _Noreturn void option_error(int answer, char **argv, const struct option *known)
{
    const char *word = argv[optind - 1];
    if (answer == ':')
        usage_error("option '%s' needs a value", word);
    if (optopt != 0 && word[0] == '-' && word[1] == '-')
        usage_error("option '%s' takes no value", word);
    if (optopt != 0)
        usage_error("unknown option '-%c'; see --help", optopt);
    unknown_option(word, known);
}

int next_option(int argc, char **argv, const char *letters, const struct option *known,
                void (*print_help)(void))
{
    opterr = 0;
    int letter = getopt_long(argc, argv, letters, known, NULL);
    if (letter == '?' || letter == ':')
        option_error(letter, argv, known);
    if (letter == 'h')
        print_help();
    if (letter == 'V')
        printf("filch %s\n", filch_version());
    if (letter == 'h' || letter == 'V')
        exit_ok();
    return letter;
}
