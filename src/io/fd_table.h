/* The descriptors of a runtime, by number.  Chunks are allocated on first use.  Each chunk is
 * as large as all chunks before it together, so no descriptor ever moves. */
#ifndef FI_IO_FD_TABLE_H
#define FI_IO_FD_TABLE_H

#include "base/init_flag.h"
#include "io/fd.h"

#include <stddef.h>

#define FI_FD_TABLE_FIRST_LOG 8 /* of the size of the first chunk */
#define FI_FD_TABLE_CHUNKS    24
typedef struct fi_fd_table {
    FI_ATOMIC(fi_fd *) chunks[FI_FD_TABLE_CHUNKS];
} fi_fd_table;

static inline size_t fi_fd_table_chunk_size(int chunk)
{
    return (size_t)1 << (FI_FD_TABLE_FIRST_LOG + chunk);
}

/* The chunk of a number that is not negative. */
static inline int fi_fd_table_chunk(int fd)
{
    unsigned n = (unsigned)fd + (1u << FI_FD_TABLE_FIRST_LOG);

    return 31 - __builtin_clz(n) - FI_FD_TABLE_FIRST_LOG;
}

/* [any] Get the descriptor if its chunk is allocated, else NULL. */
static inline fi_fd *fi_fd_table_find(fi_fd_table *t, int fd)
{
    int i = fd < 0 ? 0 : fi_fd_table_chunk(fd);
    fi_fd *chunk = fd < 0 ? NULL : fi_init_get(&t->chunks[i]);

    return chunk ? &chunk[(size_t)fd + fi_fd_table_chunk_size(0) - fi_fd_table_chunk_size(i)]
                 : NULL;
}

/* [any] Allocate the chunk of a number that is open, and get its descriptor.  Returns 0, -EBADF or
 * -ENOMEM. */
int fi_fd_table_add(fi_fd_table *t, int fd, fi_fd **out);

/* [any] Get the descriptor, and allocate its chunk if needed.  Returns 0, -EBADF (no such number is
 * open) or -ENOMEM. */
static inline int fi_fd_table_get(fi_fd_table *t, int fd, fi_fd **out)
{
    *out = fi_fd_table_find(t, fd);
    return *out ? 0 : fi_fd_table_add(t, fd, out);
}

/* [when it is not in use] */
void fi_fd_table_fini(fi_fd_table *t);

#endif
