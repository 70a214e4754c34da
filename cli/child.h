/* Run a program and capture its outputs.  It cannot outlive or hang its caller. */
#ifndef CLI_CHILD_H
#define CLI_CHILD_H

#include <stdbool.h>

enum { CHILD_OUTPUT_SIZE = 1 << 18, CHILD_ERRORS_SIZE = 1 << 12 };

typedef struct child {
    int code;                                                  /* exit code, or -1 */
    int signal;                                                /* that killed it, or 0 */
    bool timed_out;                                            /* and was killed */
    bool is_truncated;                                         /* printed more than fits */
    char output[CHILD_OUTPUT_SIZE], errors[CHILD_ERRORS_SIZE]; /* standard output, standard error */
} child;

/* Run argv[0], a path, with `input` (NULL: nothing) on its standard input, and wait for its end, at
 * most `seconds`.  0 or -errno. */
int child_run(child *c, char *const argv[], const char *input, long seconds);

/* From now on, a signal that terminates this program kills the child first. */
void child_catch_signals(void);

#endif
