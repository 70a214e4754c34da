/* Command line arguments.  A usage error prints one line and exits. */
#ifndef CLI_ARGS_H
#define CLI_ARGS_H

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

/* The usage error for the answers '?' and ':' of getopt_long.  argv: as passed to getopt_long. */
_Noreturn void option_error(int answer, char **argv);

#endif
