/* Reads the table of ranks of another process: filch-ranks(5).  All of its contents are checked,
 * because any process can publish such a table. */
#ifndef CLI_RANKS_TABLE_H
#define CLI_RANKS_TABLE_H

#include <filch/ranks.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct ranks_table {
    pid_t pid;
    char path[64]; /* of the descriptor in /proc */
    ino_t inode;
    const uint64_t *words; /* mapped */
    size_t size;
    filch_ranks_head head; /* as it was read first, with valid sizes */
} ranks_table;

typedef struct ranks_snapshot {
    int64_t now_ns;
    filch_ranks_head head;
    filch_ranks_row rows[FILCH_RANKS_ROWS]; /* their strings are terminated */
} ranks_snapshot;

/* Returns: 0.
 *     -ENOENT: there is no such process.
 *     -EACCES: its descriptors may not be read.
 *     -ENODATA: it has no table.
 *     -EPROTO: its table has another format. */
int ranks_table_open(ranks_table *t, pid_t pid);
void ranks_table_close(ranks_table *t);

/* Why it could not be opened. */
const char *ranks_table_error(pid_t pid, int e);

/* False: the process has ended, or has removed its table. */
bool ranks_table_read(const ranks_table *t, ranks_snapshot *to);

#endif
