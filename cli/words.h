/* The words of a command line: what is wrong with them is said in one line, and ends the program. */
#ifndef CLI_WORDS_H
#define CLI_WORDS_H

#include <stdbool.h>

/* How the program ends. */
enum { ENDS_WELL = 0, ENDS_FAILED = 1, ENDS_MISUSED = 2 };

/* Flush stdout.  Returns: false, after a line on stderr, if output was lost. */
bool is_printed(void);

/* Exit with ENDS_WELL, or with ENDS_FAILED if output was lost. */
_Noreturn void end_well(void);

/* Say what is wrong, and end with ENDS_MISUSED. */
_Noreturn void misused(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The number in word; ends the program where it is none, or out of range.  what: "--repeat". */
long number_in(const char *word, const char *what, long least, long most);

/* For what getopt_long answers with '?' or ':'.  argv as it was given to it. */
_Noreturn void misused_option(int answer, char **argv);

#endif
