/* The table: descriptors by number, in chunks that are made when they are first needed. */
#include "io/fds.h"

#include "base/init_flag.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>

typedef struct place {
    int chunk;
    size_t at;
} place;

static size_t chunk_size(int chunk)
{
    return (size_t)FI_FDS_FIRST << chunk;
}

static place place_of(int fd)
{
    size_t n = (size_t)fd + FI_FDS_FIRST;
    int chunk = 0;

    while (n >= 2 * chunk_size(chunk))
        chunk++;
    return (place){chunk, n - chunk_size(chunk)};
}

void fi_fds_fini(fi_fds *fds)
{
    for (int i = 0; i < FI_FDS_CHUNKS; i++)
        FI_DELETE_ARRAY(fi_fd, fi_load_relaxed(&fds->chunks[i]), chunk_size(i));
}

static fi_fd *look(fi_fds *fds, place p)
{
    fi_fd *chunk = fi_init_get(&fds->chunks[p.chunk]);

    return chunk ? &chunk[p.at] : NULL;
}

fi_fd *fi_fds_look(fi_fds *fds, int fd)
{
    return fd < 0 ? NULL : look(fds, place_of(fd));
}

/* Who comes second frees what it made. */
static int make_chunk(fi_fds *fds, int i)
{
    fi_fd *none = NULL, *chunk = FI_NEW_ARRAY(fi_fd, chunk_size(i));

    if (!chunk)
        return -ENOMEM;
    if (!fi_init_set_first(&fds->chunks[i], &none, chunk))
        FI_DELETE_ARRAY(fi_fd, chunk, chunk_size(i));
    return 0;
}

/* A number that makes no sense costs no memory. */
int fi_fds_get(fi_fds *fds, int fd, fi_fd **out)
{
    place p;
    int e;

    *out = fi_fds_look(fds, fd);
    if (*out)
        return 0;
    if (fd < 0 || fcntl(fd, F_GETFD) < 0)
        return -EBADF;
    p = place_of(fd);
    e = make_chunk(fds, p.chunk);
    if (e == 0)
        *out = look(fds, p);
    return e;
}

void fi_fds_tell(fi_fds *fds, const fi_io_event *ev)
{
    fi_fd *f = fi_fds_look(fds, ev->fd);

    if (f)
        fi_fd_tell(f, ev);
}
