#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pipe2 */
#endif
#include "io/opened.h"

#include "io/io.h"
#include "io/op.h"
#include "sched/runtime.h"

#include <filch/io.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

/* The runtime of the caller.  A thread that is not a worker locks it, so that it is not stopped
 * meanwhile. */
typedef struct runtime_use {
    bool locked;
    fi_runtime *runtime; /* NULL: not running */
} runtime_use;

static runtime_use runtime_use_begin(void)
{
    fi_runtime *rt = fi_io_fiber_runtime();

    if (rt)
        return (runtime_use){false, rt};
    return (runtime_use){true, fi_runtime_lock_running()};
}

static void runtime_use_end(runtime_use u)
{
    if (u.locked)
        fi_runtime_unlock_running();
}

void fi_opened_register(int fd, fi_fd_kind kind)
{
    runtime_use u = runtime_use_begin();
    fi_io *io;
    fi_fd *f;

    if (u.runtime && fi_io_get(u.runtime, &io) == 0 && fi_fd_table_get(&io->fd_table, fd, &f) == 0)
        fi_fd_open(io, f, kind);
    runtime_use_end(u);
}

static fi_fd *find_fd(fi_runtime *rt, int fd, fi_io **io)
{
    *io = rt ? fi_io_find(rt) : NULL;
    return *io ? fi_fd_table_find(&(*io)->fd_table, fd) : NULL;
}

bool fi_opened_short_read_drains(int fd)
{
    runtime_use u = runtime_use_begin();
    bool short_read_drains = false;
    fi_fd *f;
    fi_io *io;

    f = find_fd(u.runtime, fd, &io);
    if (f) {
        fi_fd_lock(f);
        short_read_drains = f->opened_by_us && f->short_read_drains;
        fi_fd_unlock(f);
    }
    runtime_use_end(u);
    return short_read_drains;
}

/* Linux closes the number also if a signal interrupts the call. */
__attribute__((noinline)) static int close_fd(int fd)
{
    return close(fd) < 0 && errno != EINTR ? -errno : 0;
}

int filch_close(int fd)
{
    fi_wait_chaos();
    runtime_use u = runtime_use_begin();
    uint32_t generation = 0;
    fi_io *io;
    fi_fd *f = find_fd(u.runtime, fd, &io);
    int e;

    if (f)
        generation = fi_fd_begin_close(io, f, fd);
    e = close_fd(fd);
    if (f)
        fi_fd_end_close(f, generation);
    runtime_use_end(u);
    return e;
}

ssize_t fi_opened_run(fi_io_op *op)
{
    ssize_t n;

    fi_opened_register(op->fd, (fi_fd_kind){.not_socket = true});
    n = fi_io_op_run(op);
    filch_close(op->fd);
    return n;
}

int filch_pipe(int fd[2])
{
    if (pipe2(fd, O_CLOEXEC | O_NONBLOCK) < 0)
        return -errno;
    for (int i = 0; i < 2; i++)
        fi_opened_register(fd[i], (fi_fd_kind){.short_read_drains = true, .not_socket = true});
    return 0;
}

/* A short read does not drain a UNIX socket: a read ends before a message with descriptors. */
int filch_socketpair(int fd[2])
{
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fd) < 0)
        return -errno;
    for (int i = 0; i < 2; i++)
        fi_opened_register(fd[i], (fi_fd_kind){0});
    return 0;
}
