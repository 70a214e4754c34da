/* Run a program with our standard input and outputs. */
#ifndef CLI_PASSTHROUGH_H
#define CLI_PASSTHROUGH_H

#include <sys/types.h>

/* As in a shell. */
enum { PASSTHROUGH_NOT_RUNNABLE = 126, PASSTHROUGH_NOT_FOUND = 127 };

/* Run argv[0], found in PATH, in place of this program.  Returns, after a line on stderr, only if
 * it cannot be run: one of the two above. */
int passthrough_exec(char *const argv[]);

/* Run argv[0], found in PATH, and wait for its end.  Returns its status as a shell does: the
 * exit code; 127 if there is no such program, 126 if it cannot be run; 128 + the number of the
 * signal that killed it.  Signals that this process gets are forwarded.  *pid is set to the number
 * of the process, if pid is not NULL. */
int passthrough_run(char *const argv[], pid_t *pid);

#endif
