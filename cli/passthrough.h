/* Run a program with our standard input and outputs. */
#ifndef CLI_PASSTHROUGH_H
#define CLI_PASSTHROUGH_H

/* Run argv[0], found in PATH, and wait for its end.  Returns its status as a shell does: the
 * exit code; 127 if there is no such program, 126 if it cannot be run; 128 + the number of the
 * signal that killed it. */
int passthrough_run(char *const argv[]);

#endif
