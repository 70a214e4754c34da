/* `filch top --ranks`: the ranks of a program on several processes. */
#ifndef CLI_RANKS_H
#define CLI_RANKS_H

#include <sys/types.h>

/* Show the table, and update it.  pid: a process of the program or its launcher; 0: the only
 * program.  rounds: 0 means until it ends.  Returns the exit code. */
int ranks_show(pid_t pid, int interval_ms, long rounds);

#endif
