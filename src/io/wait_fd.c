/* filch_wait_fd: an operation whose system call is poll(2). */
#include "base/message.h"
#include "io/op.h"

#include <filch/io.h>

#include <poll.h>

#define BOTH (FILCH_READABLE | FILCH_WRITABLE)

/* Closed and failed connections are ready for all that was asked for. */
static ssize_t try_wait(fi_io_op *op)
{
    struct pollfd p = {.fd = op->fd, .events = fi_io_op_poll_events(op)};
    int n = poll(&p, 1, 0), ready = 0;

    if (n <= 0)
        return n == 0 ? -EAGAIN : -errno;
    if (p.revents & POLLNVAL)
        return -EBADF;
    if (p.revents & (POLLIN | POLLHUP | POLLERR))
        ready |= FILCH_READABLE;
    if (p.revents & (POLLOUT | POLLHUP | POLLERR))
        ready |= FILCH_WRITABLE;
    return ready & op->flags ? ready & op->flags : -EAGAIN;
}

static const fi_io_op_kind wait_kind = {
    .name = "wait_fd", .attempt = try_wait, .attempt_nowait = try_wait, .never_a_file = true};

int filch_wait_fd_until(int fd, int what, int64_t deadline)
{
    static const int directions[] = {
        [FILCH_READABLE] = FI_IO_READ, [FILCH_WRITABLE] = FI_IO_WRITE, [BOTH] = FI_IO_BOTH};

    if (what == 0 || what & ~BOTH)
        return fi_message_invalid("filch_wait_fd: what is wrong (%#x); use FILCH_READABLE, "
                                  "FILCH_WRITABLE or both",
                                  (unsigned)what);
    if (fd < 0) /* poll(2) ignores these */
        return -EBADF;
    if (fi_io_is_file(fd))
        return -EPERM;
    return (int)fi_io_op_run(&(fi_io_op){.kind = &wait_kind,
                                         .fd = fd,
                                         .direction = directions[what],
                                         .deadline = deadline,
                                         .flags = what});
}

int filch_wait_fd(int fd, int what)
{
    return filch_wait_fd_until(fd, what, FILCH_FOREVER);
}
