/* The words of a command line: what is wrong with them is said in one line, and ends the program. */
#ifndef CLI_ARGS_H
#define CLI_ARGS_H

#include <stdbool.h>

/* How the program ends. */
enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* Flush stdout.  Returns: false, after a line on stderr, if output was lost. */
bool flush_output(void);

/* Exit with EXIT_OK, or with EXIT_FAILED if output was lost. */
_Noreturn void exit_ok(void);

/* Say what is wrong, and end with EXIT_USAGE. */
_Noreturn void usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The number in word; ends the program where it is none, or out of range.  what: "--repeat". */
long number_arg(const char *word, const char *what, long least, long most);

/* For what getopt_long answers with '?' or ':'.  argv as it was given to it. */
_Noreturn void option_error(int answer, char **argv);

#endif
