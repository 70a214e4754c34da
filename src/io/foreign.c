/* Attempts on descriptors that Filch did not open.  These may be in blocking mode.  The mode is not
 * changed, because other processes may share it (io/nowait.h). */
#include "io/nowait.h"
#include "io/op.h"

#include <limits.h>
#include <poll.h>
#include <sys/uio.h>
#include <unistd.h>

/* The bytes to write, up to the end of the first vector. */
static struct iovec first_bytes(const fi_io_op *op)
{
    const struct iovec *v = op->buf;
    size_t i = 0;

    if (op->unit == FI_IO_OP_BYTES)
        return (struct iovec){op->buf, op->buf ? op->n : 0};
    if (op->unit != FI_IO_OP_VECTORS)
        return (struct iovec){0};
    while (i < op->n && v[i].iov_len == 0)
        i++;
    return i < op->n ? v[i] : (struct iovec){0};
}

/* A ready terminal takes at least one byte.  The kernel does not report how many more fit. */
static ssize_t write_terminal(int fd, struct iovec v)
{
    ssize_t n = 1;
    size_t done = 0;

    while (n > 0 && done < v.iov_len && (done == 0 || fi_nowait_is_ready(fd, POLLOUT))) {
        n = fi_syscall_result(write(fd, (const char *)v.iov_base + done, 1));
        done += n > 0;
    }
    return done > 0 ? (ssize_t)done : n;
}

/* A write in blocking mode waits until all bytes are written, so it is limited to what fits.  A
 * FIFO that is ready takes PIPE_BUF bytes. */
static ssize_t attempt_in_turn(fi_io_op *op)
{
    struct iovec v = op->direction == FI_IO_WRITE ? first_bytes(op) : (struct iovec){0};

    if (v.iov_len > PIPE_BUF)
        v.iov_len = PIPE_BUF;
    if (v.iov_len > 0 && fi_nowait_is_terminal(op->fd))
        return write_terminal(op->fd, v);
    if (v.iov_len > 0 && fi_nowait_is_fifo(op->fd))
        return fi_syscall_result(write(op->fd, v.iov_base, v.iov_len));
    return op->kind->attempt(op);
}

/* [thread that may block] The descriptor is ready, so this blocks only if another process takes
 * what is there first. */
static ssize_t attempt_ready(fi_io_op *op)
{
    fi_nowait_turn turn;
    ssize_t n;

    if (!fi_nowait_begin_turn(&turn, op->fd, fi_io_op_poll_events(op)))
        return -EAGAIN;
    n = attempt_in_turn(op);
    fi_nowait_end_turn(&turn);
    return n;
}

ssize_t fi_io_op_attempt_foreign(fi_io_op *op)
{
    fi_io_attempt *nowait = op->kind->attempt_nowait;
    ssize_t n = nowait ? fi_io_op_attempt(op, nowait) : FI_NOWAIT_NONE;

    if (n != FI_NOWAIT_NONE)
        return n;
    if (fi_nowait_is_set(op->fd))
        return fi_io_op_attempt(op, op->kind->attempt);
    if (!fi_nowait_is_ready(op->fd, fi_io_op_poll_events(op)))
        return -EAGAIN;
    do
        n = fi_io_op_offload(op, attempt_ready);
    while (n == -EINTR);
    return n;
}
