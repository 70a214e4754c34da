#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* O_DIRECT */
#endif
/* Chaos builds shorten system calls at random (base/chaos.h), where the kernel may do so as
 * well. */
#include "io/op.h"

#ifdef FILCH_CHAOS

#include "base/chaos.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

static bool is_stream(int fd)
{
    int type = 0;
    socklen_t size = sizeof type;

    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

static bool is_fifo(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
}

static size_t vectors_size(const struct iovec *v, size_t n)
{
    size_t bytes = 0;

    for (size_t i = 0; i < n; i++)
        bytes += v[i].iov_len;
    return bytes;
}

static size_t bytes_of(const fi_io_op *op)
{
    return op->unit == FI_IO_OP_BYTES ? op->n : vectors_size(op->buf, op->n);
}

/* The kernel transfers whole blocks of files that were opened with O_DIRECT. */
static bool is_direct(int fd)
{
    int flags = fcntl(fd, F_GETFL);

    return flags >= 0 && (flags & O_DIRECT);
}

/* ---- bytes and vectors ---- */

/* Counters of timerfd and eventfd are read whole, and small writes to a pipe are atomic. */
static bool may_be_cut(const fi_io_op *op)
{
    if (op->unit == FI_IO_OP_NO_UNIT || op->n < 2 || op->n > INT_MAX)
        return false;
    if (op->unit == FI_IO_OP_VECTORS && (!op->buf || op->n > UIO_MAXIOV))
        return false;
    if (is_fifo(op->fd))
        return op->direction == FI_IO_READ || bytes_of(op) > PIPE_BUF;
    return is_stream(op->fd) || (fi_io_is_file(op->fd) && !is_direct(op->fd));
}

static ssize_t attempt_part(fi_io_op *op, fi_io_attempt *attempt)
{
    size_t n = op->n, part, asked = op->short_below;
    ssize_t result;

    op->n = 1 + n / 4;
    part = bytes_of(op);
    if (part == 0) /* a result of 0 would look like the end of the file */
        op->n = n;
    result = attempt(op);
    if (asked > 0 && result > 0 && (size_t)result == part)
        op->short_below = part; /* this is not a short read */
    op->n = n;
    return result;
}

/* ---- messages ---- */

#define VECTORS_MAX 8

/* Only of a stream, where a message is just bytes.  A write with ancillary data is not
 * shortened. */
static bool message_may_be_cut(const fi_io_op *op)
{
    const struct msghdr *m = op->buf;

    if (op->flags & (MSG_OOB | MSG_ERRQUEUE | MSG_WAITALL))
        return false;
    if (op->direction == FI_IO_WRITE && m->msg_controllen > 0)
        return false;
    return vectors_size(m->msg_iov, m->msg_iovlen) > 1 && is_stream(op->fd);
}

/* Copy the vectors of the first bytes, up to VECTORS_MAX of them.  Returns the number of
 * vectors. */
static size_t cut_vectors(struct iovec *to, const struct msghdr *m, size_t bytes)
{
    size_t n = 0;

    for (; n < VECTORS_MAX && n < m->msg_iovlen && bytes > 0; n++) {
        to[n] = m->msg_iov[n];
        to[n].iov_len = to[n].iov_len < bytes ? to[n].iov_len : bytes;
        bytes -= to[n].iov_len;
    }
    return n;
}

/* The results in the header of a received message are copied back to the caller's header. */
static ssize_t attempt_part_of_message(fi_io_op *op, fi_io_attempt *attempt)
{
    struct msghdr *m = op->buf, part = *m;
    struct iovec v[VECTORS_MAX];
    ssize_t result;

    part.msg_iov = v;
    part.msg_iovlen = cut_vectors(v, m, 1 + vectors_size(m->msg_iov, m->msg_iovlen) / 4);
    if (vectors_size(v, part.msg_iovlen) == 0)
        return attempt(op);
    op->buf = &part;
    result = attempt(op);
    op->buf = m;
    if (op->direction == FI_IO_READ) {
        m->msg_namelen = part.msg_namelen;
        m->msg_controllen = part.msg_controllen;
        m->msg_flags = part.msg_flags;
    }
    return result;
}

ssize_t fi_chaos_io_attempt(fi_io_op *op, fi_io_attempt *attempt)
{
    if (!fi_chaos(4))
        return attempt(op);
    if (op->unit == FI_IO_OP_MESSAGE)
        return message_may_be_cut(op) ? attempt_part_of_message(op, attempt) : attempt(op);
    return may_be_cut(op) ? attempt_part(op, attempt) : attempt(op);
}

#endif
