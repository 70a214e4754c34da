/* Finds the programs on this machine that publish a table of ranks. */
#ifndef CLI_RANKS_FIND_H
#define CLI_RANKS_FIND_H

#include <stdbool.h>
#include <sys/types.h>

enum { RANKS_PROGRAMS_MAX = 256 };

typedef struct ranks_programs {
    unsigned n;
    pid_t pids[RANKS_PROGRAMS_MAX]; /* of rank 0 */
    ino_t inodes[RANKS_PROGRAMS_MAX];
    unsigned n_denied; /* processes whose descriptors may not be read */
} ranks_programs;

void ranks_find_all(ranks_programs *p);

/* The process with the table of the program that pid is a process or the launcher of; 0: none. */
pid_t ranks_find_related(pid_t pid);

#endif
