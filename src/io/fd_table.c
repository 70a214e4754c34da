#include "io/fd_table.h"

#include "base/init_flag.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>

typedef struct slot {
    int chunk;
    size_t index;
} slot;

static size_t chunk_size(int chunk)
{
    return (size_t)FI_FD_TABLE_FIRST << chunk;
}

static slot slot_of(int fd)
{
    size_t n = (size_t)fd + FI_FD_TABLE_FIRST;
    int chunk = 0;

    while (n >= 2 * chunk_size(chunk))
        chunk++;
    return (slot){chunk, n - chunk_size(chunk)};
}

void fi_fd_table_fini(fi_fd_table *t)
{
    for (int i = 0; i < FI_FD_TABLE_CHUNKS; i++)
        FI_DELETE_ARRAY(fi_fd, fi_load_relaxed(&t->chunks[i]), chunk_size(i));
}

static fi_fd *slot_get(fi_fd_table *t, slot s)
{
    fi_fd *chunk = fi_init_get(&t->chunks[s.chunk]);

    return chunk ? &chunk[s.index] : NULL;
}

fi_fd *fi_fd_table_find(fi_fd_table *t, int fd)
{
    return fd < 0 ? NULL : slot_get(t, slot_of(fd));
}

/* Two threads may allocate the same chunk.  The second one frees its copy. */
static int chunk_new(fi_fd_table *t, int i)
{
    fi_fd *none = NULL, *chunk = FI_NEW_ARRAY(fi_fd, chunk_size(i));

    if (!chunk)
        return -ENOMEM;
    if (!fi_init_set_first(&t->chunks[i], &none, chunk))
        FI_DELETE_ARRAY(fi_fd, chunk, chunk_size(i));
    return 0;
}

/* No memory is allocated for a number that is not open. */
int fi_fd_table_get(fi_fd_table *t, int fd, fi_fd **out)
{
    slot s;
    int e;

    *out = fi_fd_table_find(t, fd);
    if (*out)
        return 0;
    if (fd < 0 || fcntl(fd, F_GETFD) < 0)
        return -EBADF;
    s = slot_of(fd);
    e = chunk_new(t, s.chunk);
    if (e == 0)
        *out = slot_get(t, s);
    return e;
}
