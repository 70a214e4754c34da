/* Reading and writing. */
#include "base/message.h"
#include "io/nowait.h"
#include "io/op.h"

#include <filch/io.h>

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* The vectors are not read if the kernel refuses the call.  Then the size does not matter. */
static size_t vectors_size(const struct iovec *v, int n)
{
    size_t bytes = 0;

    if (!v || n > UIO_MAXIOV)
        return 0;
    for (int i = 0; i < n; i++)
        bytes += v[i].iov_len;
    return bytes;
}

static int check_vectors(const char *function, const struct iovec *v, int n)
{
    if (n < 0)
        return fi_message_invalid("%s: n is negative (%d); use 0 or more", function, n);
    return v || n == 0 ? 0 : fi_message_null(function, "v", "an array of n vectors");
}

/* ---- reading ---- */

static ssize_t try_read(fi_io_op *op)
{
    return fi_syscall_result(read(op->fd, op->buf, op->n));
}

static ssize_t try_read_nowait(fi_io_op *op)
{
    return fi_nowait_readv(op->fd, &(struct iovec){op->buf, op->n}, 1);
}

static const fi_io_op_kind read_kind = {
    .name = "read", .attempt = try_read, .attempt_nowait = try_read_nowait, .reads_file = true};

static fi_io_op read_call(int fd, void *buf, size_t n, int64_t deadline)
{
    return (fi_io_op){.kind = &read_kind,
                      .fd = fd,
                      .direction = FI_IO_READ,
                      .deadline = deadline,
                      .buf = buf,
                      .n = n,
                      .unit = FI_IO_OP_BYTES,
                      .offset = -1,
                      .short_below = n};
}

ssize_t filch_read_until(int fd, void *buf, size_t n, int64_t deadline)
{
    fi_io_op op = read_call(fd, buf, n, deadline);

    return fi_io_op_run(&op);
}

ssize_t filch_read(int fd, void *buf, size_t n)
{
    return filch_read_until(fd, buf, n, FILCH_FOREVER);
}

static ssize_t try_readv(fi_io_op *op)
{
    return fi_syscall_result(readv(op->fd, op->buf, (int)op->n));
}

static ssize_t try_readv_nowait(fi_io_op *op)
{
    return fi_nowait_readv(op->fd, op->buf, (int)op->n);
}

static const fi_io_op_kind readv_kind = {
    .name = "read", .attempt = try_readv, .attempt_nowait = try_readv_nowait};

ssize_t filch_readv_until(int fd, const struct iovec *v, int n, int64_t deadline)
{
    int e = check_vectors("filch_readv", v, n);

    if (e < 0)
        return e;
    return fi_io_op_run(&(fi_io_op){.kind = &readv_kind,
                                    .fd = fd,
                                    .direction = FI_IO_READ,
                                    .deadline = deadline,
                                    .buf = (void *)(uintptr_t)v,
                                    .n = (size_t)n,
                                    .unit = FI_IO_OP_VECTORS,
                                    .short_below = vectors_size(v, n)});
}

ssize_t filch_readv(int fd, const struct iovec *v, int n)
{
    return filch_readv_until(fd, v, n, FILCH_FOREVER);
}

/* ---- writing ---- */

static ssize_t try_send(fi_io_op *op)
{
    return fi_syscall_result(send(op->fd, op->buf, op->n, MSG_NOSIGNAL));
}

static ssize_t try_write_file(fi_io_op *op)
{
    return fi_syscall_result(write(op->fd, op->buf, op->n));
}

/* As a socket first, because only sockets have a flag that suppresses SIGPIPE. */
static ssize_t try_write(fi_io_op *op)
{
    ssize_t n = op->not_socket ? -ENOTSOCK : try_send(op);

    if (n != -ENOTSOCK)
        return n;
    op->not_socket = true;
    return try_write_file(op);
}

static ssize_t try_write_nowait(fi_io_op *op)
{
    return fi_nowait_writev(op->fd, &(struct iovec){op->buf, op->n}, 1);
}

static const fi_io_op_kind write_kind = {
    .name = "write", .attempt = try_write, .attempt_nowait = try_write_nowait};

static fi_io_op write_call(int fd, const void *buf, size_t n, int64_t deadline)
{
    return (fi_io_op){.kind = &write_kind,
                      .fd = fd,
                      .direction = FI_IO_WRITE,
                      .deadline = deadline,
                      .buf = (void *)(uintptr_t)buf,
                      .n = n,
                      .unit = FI_IO_OP_BYTES};
}

ssize_t filch_write_until(int fd, const void *buf, size_t n, int64_t deadline)
{
    fi_io_op op = write_call(fd, buf, n, deadline);

    return fi_io_op_run(&op);
}

ssize_t filch_write(int fd, const void *buf, size_t n)
{
    return filch_write_until(fd, buf, n, FILCH_FOREVER);
}

static ssize_t try_send_many(fi_io_op *op)
{
    struct msghdr m = {.msg_iov = op->buf, .msg_iovlen = op->n};

    return fi_syscall_result(sendmsg(op->fd, &m, MSG_NOSIGNAL));
}

static ssize_t try_write_many(fi_io_op *op)
{
    return fi_syscall_result(writev(op->fd, op->buf, (int)op->n));
}

static ssize_t try_writev(fi_io_op *op)
{
    ssize_t n = op->not_socket ? -ENOTSOCK : try_send_many(op);

    if (n != -ENOTSOCK)
        return n;
    op->not_socket = true;
    return try_write_many(op);
}

static ssize_t try_writev_nowait(fi_io_op *op)
{
    return fi_nowait_writev(op->fd, op->buf, (int)op->n);
}

static const fi_io_op_kind writev_kind = {
    .name = "write", .attempt = try_writev, .attempt_nowait = try_writev_nowait};

ssize_t filch_writev_until(int fd, const struct iovec *v, int n, int64_t deadline)
{
    int e = check_vectors("filch_writev", v, n);

    if (e < 0)
        return e;
    return fi_io_op_run(&(fi_io_op){.kind = &writev_kind,
                                    .fd = fd,
                                    .direction = FI_IO_WRITE,
                                    .deadline = deadline,
                                    .buf = (void *)(uintptr_t)v,
                                    .n = (size_t)n,
                                    .unit = FI_IO_OP_VECTORS});
}

ssize_t filch_writev(int fd, const struct iovec *v, int n)
{
    return filch_writev_until(fd, v, n, FILCH_FOREVER);
}

/* ---- all bytes ---- */

/* As one operation, so that all bytes go to the same file.  Returns the number of bytes done,
 * or -errno. */
static ssize_t run_all(fi_io_op *op)
{
    size_t n = op->n, done = 0;
    char *buf = op->buf;

    while (done < n) {
        ssize_t m;
        op->buf = buf + done;
        op->n = n - done;
        op->short_below = op->direction == FI_IO_READ ? op->n : 0;
        m = fi_io_op_run(op);
        if (m < 0)
            return m;
        if (m == 0)
            break;
        done += (size_t)m;
    }
    return (ssize_t)done;
}

ssize_t filch_write_all_until(int fd, const void *buf, size_t n, int64_t deadline)
{
    fi_io_op op = write_call(fd, buf, n, deadline);

    return run_all(&op);
}

ssize_t filch_write_all(int fd, const void *buf, size_t n)
{
    return filch_write_all_until(fd, buf, n, FILCH_FOREVER);
}

ssize_t filch_read_all_until(int fd, void *buf, size_t n, int64_t deadline)
{
    fi_io_op op = read_call(fd, buf, n, deadline);

    return run_all(&op);
}

ssize_t filch_read_all(int fd, void *buf, size_t n)
{
    return filch_read_all_until(fd, buf, n, FILCH_FOREVER);
}
