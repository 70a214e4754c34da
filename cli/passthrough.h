/* Run somebody's program as if we were not there: it has our input and outputs. */
#ifndef CLI_PASSTHROUGH_H
#define CLI_PASSTHROUGH_H

/* Run argv[0], which is looked for in PATH, and wait for its end.  How it ended, as a shell tells it: its exit code; 127
 * where there is no such program, 126 where it cannot be run; 128 and the number of the signal that ended it. */
int passthrough_run(char *const argv[]);

#endif
