/* Waiting for a descriptor, and nothing else. */
#include "base/chaos.h"
#include "base/clock.h"
#include "io/io.h"
#include "io/op.h"
#include "sched/wait.h"

#include <filch/io.h>

#include <poll.h>

#define BOTH (FILCH_READABLE | FILCH_WRITABLE)

/* What it is ready for at last, in ms milliseconds; 0: nothing. */
__attribute__((noinline)) static int poll_fd(int fd, int what, int ms)
{
    struct pollfd p = {.fd = fd};
    int n, gone, ready = 0;

    p.events =
        (short)((what & FILCH_READABLE ? POLLIN : 0) | (what & FILCH_WRITABLE ? POLLOUT : 0));
    n = poll(&p, 1, ms);
    if (n <= 0)
        return n == 0 || errno == EINTR ? 0 : -errno;
    if (p.revents & POLLNVAL)
        return -EBADF;
    gone = p.revents & (POLLHUP | POLLERR);
    if (gone || p.revents & POLLIN)
        ready |= FILCH_READABLE;
    if (gone || p.revents & POLLOUT)
        ready |= FILCH_WRITABLE;
    return ready & what;
}

static int wait_in_thread(int fd, int what, int64_t deadline)
{
    for (;;) {
        int ready = fi_chaos(8) ? 0 : poll_fd(fd, what, fi_clock_left_ms(deadline));
        if (ready != 0)
            return ready;
        if (filch_now() >= deadline)
            return -ETIMEDOUT;
    }
}

static int await(fi_io *io, fi_fd *f, int what, const fi_fd_state v[2], fi_fd_wait *w)
{
    if (what == BOTH)
        return fi_fd_await_both(io, f, v, w);
    w->direction = what == FILCH_READABLE ? FI_IO_READ : FI_IO_WRITE;
    return fi_fd_await(io, f, &v[w->direction], w);
}

static int wait_on_fiber(fi_io *io, fi_fd *f, int what, fi_fd_wait *w)
{
    fi_fd_state v[2];
    int ready, e;

    for (;;) {
        if (fi_chaos(4)) {
            fi_wait_yield(); /* as if nothing had come, and then something */
            continue;
        }
        v[FI_IO_READ] = fi_fd_snapshot(f, FI_IO_READ);
        v[FI_IO_WRITE] = fi_fd_snapshot(f, FI_IO_WRITE);
        ready = poll_fd(w->fd, what, 0);
        if (ready != 0)
            return ready;
        e = await(io, f, what, v, w);
        if (e < 0)
            return e;
    }
}

static int wait_as_fiber(fi_runtime *rt, int fd, int what, int64_t deadline)
{
    fi_fd_wait w = {.fd = fd, .what = "wait_fd", .deadline = deadline};
    fi_io *io;
    fi_fd *f = NULL;
    int e = fi_io_get(rt, &io);

    if (e == 0)
        e = fi_fd_table_get(&io->fd_table, fd, &f);
    return e < 0 ? e : wait_on_fiber(io, f, what, &w);
}

int filch_wait_fd_until(int fd, int what, int64_t deadline)
{
    fi_wait_chaos();
    fi_runtime *rt = fi_io_fiber_runtime();

    if (what == 0 || what & ~BOTH)
        return -EINVAL;
    if (fd < 0) /* poll(2) waits for such ones for ever */
        return -EBADF;
    if (fi_io_is_file(fd))
        return -EPERM;
    if (rt)
        fi_io_yield_in_turn();
    return rt ? wait_as_fiber(rt, fd, what, deadline) : wait_in_thread(fd, what, deadline);
}
