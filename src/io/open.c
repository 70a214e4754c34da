/* Opening and closing: what Filch has opened is told apart from what others have. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pipe2 */
#endif
#include "io/open.h"

#include "io/call.h"
#include "io/room.h"
#include "sched/runtime.h"

#include <filch/io.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

/* A thread from outside keeps the runtime as it is meanwhile. */
typedef struct visit {
    bool looks;
    fi_runtime *runtime; /* NULL: none */
} visit;

static visit begin(void)
{
    fi_runtime *rt = fi_io_fiber();

    if (rt)
        return (visit){false, rt};
    return (visit){true, fi_runtime_lock_running()};
}

static void end(visit v)
{
    if (v.looks)
        fi_runtime_unlock_running();
}

void fi_open_note(int fd, fi_fd_kind kind)
{
    visit v = begin();
    fi_io *io;
    fi_fd *f;

    if (v.runtime && fi_io_get(v.runtime, &io) == 0 && fi_fds_get(&io->fds, fd, &f) == 0)
        fi_fd_open(io, f, kind);
    end(v);
}

static fi_fd *known(fi_runtime *rt, int fd, fi_io **io)
{
    *io = rt ? fi_io_look(rt) : NULL;
    return *io ? fi_fds_look(&(*io)->fds, fd) : NULL;
}

bool fi_open_drains(int fd)
{
    visit v = begin();
    bool drains = false;
    fi_fd *f;
    fi_io *io;

    f = known(v.runtime, fd, &io);
    if (f) {
        fi_hold_also(&f->latch);
        drains = f->ours && f->drains;
        fi_let_go(&f->latch);
    }
    end(v);
    return drains;
}

/* Closed it is in any case, also when a signal came. */
__attribute__((noinline)) static int close_number(int fd)
{
    return close(fd) < 0 && errno != EINTR ? -errno : 0;
}

int filch_close(int fd)
{
    fi_wait_chaos();
    visit v = begin();
    uint32_t generation = 0;
    fi_io *io;
    fi_fd *f = known(v.runtime, fd, &io);
    int e;

    if (f)
        generation = fi_fd_begin_close(io, f, fd);
    e = close_number(fd);
    if (f)
        fi_fd_end_close(f, generation);
    end(v);
    return e;
}

int filch_pipe(int fd[2])
{
    if (pipe2(fd, O_CLOEXEC | O_NONBLOCK) < 0)
        return -errno;
    for (int i = 0; i < 2; i++)
        fi_open_note(fd[i], (fi_fd_kind){.drains = true, .no_socket = true});
    return 0;
}

/* Over UNIX sockets descriptors may be sent, and a read ends before one. */
int filch_socketpair(int fd[2])
{
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fd) < 0)
        return -errno;
    for (int i = 0; i < 2; i++)
        fi_open_note(fd[i], (fi_fd_kind){0});
    return 0;
}
