/* Command line arguments.  A usage error prints one line and exits. */
#ifndef CLI_ARGS_H
#define CLI_ARGS_H

#include <getopt.h>
#include <stdbool.h>

/* Exit codes. */
enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* Flush stdout.  Returns: false, after a line on stderr, if output was lost. */
bool flush_output(void);

/* Exit with EXIT_OK, or with EXIT_FAILED if output was lost. */
_Noreturn void exit_ok(void);

/* Print what is wrong, and exit with EXIT_USAGE. */
_Noreturn void usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The number in word.  A usage error if it is not a number from min to max.  what: the option,
 * such as "--repeat". */
long number_arg(const char *word, const char *what, long min, long max);

/* The options of every command, at the end of its table. */
#define COMMON_OPTIONS                                                                             \
    {"help", no_argument, NULL, 'h'}, {"version", no_argument, NULL, 'V'},                         \
    {                                                                                              \
        0                                                                                          \
    }

/* The next option, as by getopt_long; -1: there is none.  Exits after -h, -V and usage errors.
 * letters: as for getopt_long, with ":", and with "hV" at the end. */
int next_option(int argc, char **argv, const char *letters, const struct option *known,
                void (*print_help)(void));

/* Set an environment variable for the programs that the command runs. */
void set_variable(const char *name, const char *value);

/* The name that is most similar to a misspelled word.  Initialise it with the word and offer it
 * each name.  name is NULL if no name is similar. */
typedef struct nearest {
    const char *word, *name;
    unsigned distance; /* between the two, in edits */
} nearest;
void nearest_offer(nearest *n, const char *name);

#endif
