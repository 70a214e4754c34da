/* Outgoing connections. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* SOCK_NONBLOCK */
#endif
#include "base/chaos.h"
#include "io/address.h"
#include "io/op.h"
#include "io/opened.h"
#include "io/retry.h"

#include <filch/io.h>

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

/* A repeated connect(2) reports progress.  EISCONN is an error in the first call only. */
static ssize_t try_connect(fi_io_op *op)
{
    ssize_t e = fi_syscall_result(connect(op->fd, op->buf, (socklen_t)op->n));
    bool begun = op->flags != 0;

    op->flags = 1;
    if (e == -EINPROGRESS && fi_chaos(4))
        return -EINTR;
    if (e == -EINPROGRESS || e == -EALREADY)
        return -EAGAIN;
    /* The backlog of a UNIX socket is full.  The kernel does not report when it is not full any
     * more. */
    if (e == -EAGAIN)
        return -ENOBUFS;
    return e == -EISCONN && begun ? 0 : e;
}

static bool is_datagram(int fd)
{
    int type = 0;
    socklen_t size = sizeof type;

    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_DGRAM;
}

/* connect(2) has no flag not to wait, so the socket is set to non-blocking mode for this one call.
 * It has no connection yet, so no other user reads or writes through it.  Datagram sockets may be
 * in use, but do not wait here. */
static ssize_t try_connect_nowait(fi_io_op *op)
{
    int flags = fcntl(op->fd, F_GETFL);
    ssize_t e;

    if (flags < 0 || flags & O_NONBLOCK || is_datagram(op->fd))
        return try_connect(op);
    if (fcntl(op->fd, F_SETFL, flags | O_NONBLOCK) < 0)
        return -errno;
    e = try_connect(op);
    fcntl(op->fd, F_SETFL, flags);
    return e;
}

static const fi_io_op_kind connect_kind = {.name = "connect",
                                           .attempt = try_connect,
                                           .attempt_nowait = try_connect_nowait,
                                           .never_a_file = true};

static int connect_once(int fd, const struct sockaddr *address, socklen_t size, int64_t deadline)
{
    return (int)fi_io_op_run(&(fi_io_op){.kind = &connect_kind,
                                         .fd = fd,
                                         .direction = FI_IO_WRITE,
                                         .deadline = deadline,
                                         .buf = (void *)(uintptr_t)address,
                                         .n = size});
}

int filch_connect_to_until(int fd, const struct sockaddr *address, unsigned size, int64_t deadline)
{
    fi_retry retry = {.reason = {connect_kind.name, (const void *)(intptr_t)fd},
                      .deadline = deadline};
    int e;

    while ((e = connect_once(fd, address, size, deadline)) == -ENOBUFS &&
           address->sa_family == AF_UNIX)
        if ((e = fi_retry_wait(&retry)) < 0)
            return e;
    return e;
}

int filch_connect_to(int fd, const struct sockaddr *address, unsigned size)
{
    return filch_connect_to_until(fd, address, size, FILCH_FOREVER);
}

/* A short read does not drain a datagram socket: another message may follow. */
__attribute__((noinline)) static int open_socket(const struct addrinfo *a)
{
    bool is_tcp = a->ai_family != AF_UNIX && a->ai_socktype == SOCK_STREAM;
    int one = 1;
    int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -errno;
    if (is_tcp)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    fi_opened_register(fd, (fi_fd_kind){.short_read_drains = is_tcp});
    return fd;
}

static int connect_address(const struct addrinfo *a, int64_t deadline)
{
    int fd = open_socket(a), e;

    if (fd < 0)
        return fd;
    e = filch_connect_to_until(fd, a->ai_addr, a->ai_addrlen, deadline);
    if (e == 0)
        return fd;
    filch_close(fd);
    return e;
}

/* Connect to the first address that works. */
static int connect_host(const fi_address_query *query)
{
    fi_addresses found;
    int fd = fi_addresses_resolve(&found, query);

    if (fd < 0)
        return fd;
    fd = -ENOENT;
    for (struct addrinfo *a = found.list; a && fd < 0; a = a->ai_next) {
        fd = connect_address(a, query->deadline);
        if (fd == -ETIMEDOUT && filch_now() >= query->deadline)
            break;
        if (fd == -ECANCELED)
            break;
    }
    fi_addresses_fini(&found);
    return fd;
}

int filch_connect_until(const char *host, int port, int64_t deadline)
{
    return connect_host(&(fi_address_query){__func__, host, port, SOCK_STREAM, false, deadline});
}

int filch_connect(const char *host, int port)
{
    return connect_host(
        &(fi_address_query){__func__, host, port, SOCK_STREAM, false, FILCH_FOREVER});
}

int filch_udp_connect_until(const char *host, int port, int64_t deadline)
{
    return connect_host(&(fi_address_query){__func__, host, port, SOCK_DGRAM, false, deadline});
}

int filch_udp_connect(const char *host, int port)
{
    return connect_host(
        &(fi_address_query){__func__, host, port, SOCK_DGRAM, false, FILCH_FOREVER});
}
