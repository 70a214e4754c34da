/* Messages of sockets, with flags and addresses. */
#include "base/message.h"
#include "io/op.h"

#include <filch/io.h>

#include <sys/socket.h>
#include <sys/uio.h>

/* MSG_DONTWAIT asks for -EAGAIN instead of a wait. */
static ssize_t run_message(fi_io_op *op)
{
    ssize_t n;

    if (!(op->flags & MSG_DONTWAIT))
        return fi_io_op_run(op);
    op->deadline = 0;
    n = fi_io_op_run(op);
    return n == -ETIMEDOUT ? -EAGAIN : n;
}

/* ---- receiving ---- */

/* A message that is shorter than the buffer does not drain the socket: another may follow. */
static ssize_t try_recvmsg(fi_io_op *op)
{
    return fi_syscall_result(recvmsg(op->fd, op->buf, op->flags | MSG_DONTWAIT));
}

static const fi_io_op_kind recvmsg_kind = {
    .name = "read", .attempt = try_recvmsg, .attempt_nowait = try_recvmsg, .never_a_file = true};

ssize_t filch_recvmsg_until(int fd, struct msghdr *m, int flags, int64_t deadline)
{
    return run_message(&(fi_io_op){.kind = &recvmsg_kind,
                                   .fd = fd,
                                   .direction = FI_IO_READ,
                                   .deadline = deadline,
                                   .buf = m,
                                   .unit = FI_IO_OP_MESSAGE,
                                   .flags = flags});
}

ssize_t filch_recvmsg(int fd, struct msghdr *m, int flags)
{
    return filch_recvmsg_until(fd, m, flags, FILCH_FOREVER);
}

ssize_t filch_recvfrom_until(int fd, void *buf, size_t n, int flags, struct sockaddr *address,
                             unsigned *size, int64_t deadline)
{
    struct iovec v = {buf, n};
    struct msghdr m = {.msg_name = address, .msg_iov = &v, .msg_iovlen = 1};
    ssize_t got;

    if (address && !size)
        return fi_message_null("filch_recvfrom", "size", "the capacity of address");
    m.msg_namelen = address ? *size : 0;
    got = filch_recvmsg_until(fd, &m, flags, deadline);
    if (got >= 0 && address)
        *size = m.msg_namelen;
    return got;
}

ssize_t filch_recvfrom(int fd, void *buf, size_t n, int flags, struct sockaddr *address,
                       unsigned *size)
{
    return filch_recvfrom_until(fd, buf, n, flags, address, size, FILCH_FOREVER);
}

ssize_t filch_recv_until(int fd, void *buf, size_t n, int flags, int64_t deadline)
{
    return filch_recvfrom_until(fd, buf, n, flags, NULL, NULL, deadline);
}

ssize_t filch_recv(int fd, void *buf, size_t n, int flags)
{
    return filch_recvfrom_until(fd, buf, n, flags, NULL, NULL, FILCH_FOREVER);
}

/* ---- sending ---- */

static ssize_t try_sendmsg(fi_io_op *op)
{
    return fi_syscall_result(sendmsg(op->fd, op->buf, op->flags | MSG_NOSIGNAL | MSG_DONTWAIT));
}

static const fi_io_op_kind sendmsg_kind = {
    .name = "write", .attempt = try_sendmsg, .attempt_nowait = try_sendmsg, .never_a_file = true};

ssize_t filch_sendmsg_until(int fd, const struct msghdr *m, int flags, int64_t deadline)
{
    return run_message(&(fi_io_op){.kind = &sendmsg_kind,
                                   .fd = fd,
                                   .direction = FI_IO_WRITE,
                                   .deadline = deadline,
                                   .buf = (void *)(uintptr_t)m,
                                   .unit = FI_IO_OP_MESSAGE,
                                   .flags = flags});
}

ssize_t filch_sendmsg(int fd, const struct msghdr *m, int flags)
{
    return filch_sendmsg_until(fd, m, flags, FILCH_FOREVER);
}

ssize_t filch_sendto_until(int fd, const void *buf, size_t n, int flags,
                           const struct sockaddr *address, unsigned size, int64_t deadline)
{
    struct iovec v = {(void *)(uintptr_t)buf, n};
    struct msghdr m = {.msg_name = (void *)(uintptr_t)address,
                       .msg_namelen = address ? size : 0,
                       .msg_iov = &v,
                       .msg_iovlen = 1};

    return filch_sendmsg_until(fd, &m, flags, deadline);
}

ssize_t filch_sendto(int fd, const void *buf, size_t n, int flags, const struct sockaddr *address,
                     unsigned size)
{
    return filch_sendto_until(fd, buf, n, flags, address, size, FILCH_FOREVER);
}

ssize_t filch_send_until(int fd, const void *buf, size_t n, int flags, int64_t deadline)
{
    return filch_sendto_until(fd, buf, n, flags, NULL, 0, deadline);
}

ssize_t filch_send(int fd, const void *buf, size_t n, int flags)
{
    return filch_sendto_until(fd, buf, n, flags, NULL, 0, FILCH_FOREVER);
}
