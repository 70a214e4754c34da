/* The descriptors of a runtime, by number.  Chunks are allocated on first use.  Each chunk is
 * as large as all chunks before it together, so no descriptor ever moves. */
#ifndef FI_IO_FD_TABLE_H
#define FI_IO_FD_TABLE_H

#include "io/fd.h"

#define FI_FD_TABLE_FIRST  256
#define FI_FD_TABLE_CHUNKS 24
typedef struct fi_fd_table {
    FI_ATOMIC(fi_fd *) chunks[FI_FD_TABLE_CHUNKS];
} fi_fd_table;

/* [when it is not in use] */
void fi_fd_table_fini(fi_fd_table *t);

/* [any] Get the descriptor, and allocate its chunk if needed.  Returns 0, -EBADF (no such number is
 * open) or -ENOMEM. */
int fi_fd_table_get(fi_fd_table *t, int fd, fi_fd **out);

/* [any] Get the descriptor if its chunk is allocated, else NULL. */
fi_fd *fi_fd_table_find(fi_fd_table *t, int fd);

#endif
