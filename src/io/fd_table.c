/* The table: descriptors by number, in chunks that are made when they are first needed. */
#include "io/fd_table.h"

#include "base/init_flag.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>

typedef struct index {
    int chunk;
    size_t at;
} index;

static size_t chunk_size(int chunk)
{
    return (size_t)FI_FD_TABLE_FIRST << chunk;
}

static index index_of(int fd)
{
    size_t n = (size_t)fd + FI_FD_TABLE_FIRST;
    int chunk = 0;

    while (n >= 2 * chunk_size(chunk))
        chunk++;
    return (index){chunk, n - chunk_size(chunk)};
}

void fi_fd_table_fini(fi_fd_table *t)
{
    for (int i = 0; i < FI_FD_TABLE_CHUNKS; i++)
        FI_DELETE_ARRAY(fi_fd, fi_load_relaxed(&t->chunks[i]), chunk_size(i));
}

static fi_fd *slot_at(fi_fd_table *t, index p)
{
    fi_fd *chunk = fi_init_get(&t->chunks[p.chunk]);

    return chunk ? &chunk[p.at] : NULL;
}

fi_fd *fi_fd_table_find(fi_fd_table *t, int fd)
{
    return fd < 0 ? NULL : slot_at(t, index_of(fd));
}

/* Who comes second frees what it made. */
static int chunk_new(fi_fd_table *t, int i)
{
    fi_fd *none = NULL, *chunk = FI_NEW_ARRAY(fi_fd, chunk_size(i));

    if (!chunk)
        return -ENOMEM;
    if (!fi_init_set_first(&t->chunks[i], &none, chunk))
        FI_DELETE_ARRAY(fi_fd, chunk, chunk_size(i));
    return 0;
}

/* A number that makes no sense costs no memory. */
int fi_fd_table_get(fi_fd_table *t, int fd, fi_fd **out)
{
    index p;
    int e;

    *out = fi_fd_table_find(t, fd);
    if (*out)
        return 0;
    if (fd < 0 || fcntl(fd, F_GETFD) < 0)
        return -EBADF;
    p = index_of(fd);
    e = chunk_new(t, p.chunk);
    if (e == 0)
        *out = slot_at(t, p);
    return e;
}

void fi_fd_table_dispatch(fi_fd_table *t, const fi_io_event *ev)
{
    fi_fd *f = fi_fd_table_find(t, ev->fd);

    if (f)
        fi_fd_notify(f, ev);
}
