#include "io/fd_table.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>

/* Two threads may allocate the same chunk.  The second one frees its copy. */
static int chunk_new(fi_fd_table *t, int i)
{
    fi_fd *none = NULL, *chunk = FI_NEW_ARRAY(fi_fd, fi_fd_table_chunk_size(i));

    if (!chunk)
        return -ENOMEM;
    if (!fi_init_set_first(&t->chunks[i], &none, chunk))
        FI_DELETE_ARRAY(fi_fd, chunk, fi_fd_table_chunk_size(i));
    return 0;
}

/* No memory is allocated for a number that is not open. */
int fi_fd_table_add(fi_fd_table *t, int fd, fi_fd **out)
{
    int e;

    if (fd < 0 || fcntl(fd, F_GETFD) < 0)
        return -EBADF;
    e = chunk_new(t, fi_fd_table_chunk(fd));
    if (e == 0)
        *out = fi_fd_table_find(t, fd);
    return e;
}

void fi_fd_table_fini(fi_fd_table *t)
{
    for (int i = 0; i < FI_FD_TABLE_CHUNKS; i++)
        FI_DELETE_ARRAY(fi_fd, fi_load_relaxed(&t->chunks[i]), fi_fd_table_chunk_size(i));
}
