/* Listeners, bound datagram sockets, and incoming connections. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* accept4 */
#endif
#include "base/chaos.h"
#include "base/message.h"
#include "base/option.h"
#include "io/address.h"
#include "io/op.h"
#include "io/opened.h"

#include <filch/io.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

/* ---- bound sockets ---- */

typedef struct bound_attr {
    int backlog; /* unused by datagram sockets */
    unsigned flags;
} bound_attr;

static int set_option(int fd, int level, int option, int value)
{
    return setsockopt(fd, level, option, &value, sizeof value) < 0 ? -errno : 0;
}

/* Accepted sockets inherit TCP_NODELAY.  An IPv6 socket receives IPv4 as well. */
static int bound_set_options(int fd, const struct addrinfo *a, unsigned flags)
{
    if (a->ai_family == AF_INET6)
        set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
    if (a->ai_family != AF_UNIX && a->ai_socktype == SOCK_STREAM) {
        set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
        set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    }
    return flags & FILCH_REUSEPORT ? set_option(fd, SOL_SOCKET, SO_REUSEPORT, 1) : 0;
}

static int bind_and_listen(int fd, const struct addrinfo *a, const bound_attr *attr)
{
    int e = bound_set_options(fd, a, attr->flags);

    if (e < 0)
        return e;
    if (bind(fd, a->ai_addr, a->ai_addrlen) < 0)
        return -errno;
    return a->ai_socktype == SOCK_STREAM && listen(fd, attr->backlog) < 0 ? -errno : 0;
}

__attribute__((noinline)) static int open_bound(const struct addrinfo *a, const bound_attr *attr)
{
    int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), e;
    bool is_tcp = a->ai_family != AF_UNIX && a->ai_socktype == SOCK_STREAM;

    if (fd < 0)
        return -errno;
    e = bind_and_listen(fd, a, attr);
    if (e == 0) {
        fi_opened_register(fd, (fi_fd_kind){.short_read_drains = is_tcp});
        return fd;
    }
    filch_close(fd);
    return e;
}

/* The first address that works. */
static int open_first(const struct addrinfo *list, int family, const bound_attr *attr, int error)
{
    int fd = error;

    for (const struct addrinfo *a = list; a && fd < 0; a = a->ai_next)
        if (family == AF_UNSPEC || a->ai_family == family)
            fd = open_bound(a, attr);
    return fd;
}

static int open_bound_to(const char *function, const char *host, int port, int type,
                         const bound_attr *attr)
{
    fi_addresses found;
    int fd = fi_addresses_resolve(&found, &(fi_address_query){.function = function,
                                                              .host = host,
                                                              .port = port,
                                                              .type = type,
                                                              .passive = true,
                                                              .deadline = FILCH_FOREVER});

    if (fd < 0)
        return fd;
    fd = -ENOENT;
    if (!host)
        fd = open_first(found.list, AF_INET6, attr, fd);
    if (fd < 0 && fd != -EADDRINUSE)
        fd = open_first(found.list, AF_UNSPEC, attr, fd);
    fi_addresses_fini(&found);
    return fd;
}

int filch_listen_flags(const char *host, int port, int backlog, unsigned flags)
{
    if (flags & ~FILCH_REUSEPORT)
        return fi_message_invalid(
            "filch_listen_flags: unknown flags (%#x); use 0 or FILCH_REUSEPORT", flags);
    return open_bound_to(__func__, host, port, SOCK_STREAM, &(bound_attr){backlog, flags});
}

int filch_listen(const char *host, int port, int backlog)
{
    return open_bound_to(__func__, host, port, SOCK_STREAM, &(bound_attr){backlog, 0});
}

int filch_udp_bind(const char *host, int port, unsigned flags)
{
    if (flags & ~FILCH_REUSEPORT)
        return fi_message_invalid("filch_udp_bind: unknown flags (%#x); use 0 or FILCH_REUSEPORT",
                                  flags);
    return open_bound_to(__func__, host, port, SOCK_DGRAM, &(bound_attr){0, flags});
}

/* ---- accept ---- */

/* Connections that were aborted before accept4 are skipped. */
static ssize_t try_accept(fi_io_op *op)
{
    ssize_t fd;

    do
        fd = fi_chaos(8) ? -ECONNABORTED
                         : fi_syscall_result(
                               accept4(op->fd, op->buf, op->more, SOCK_CLOEXEC | SOCK_NONBLOCK));
    while (fd == -ECONNABORTED || fd == -EPROTO);
    return fd;
}

static bool is_internet(int fd)
{
    struct sockaddr_storage a = {0};
    socklen_t n = sizeof a;

    return getsockname(fd, (struct sockaddr *)&a, &n) == 0 &&
           (a.ss_family == AF_INET || a.ss_family == AF_INET6);
}

static const fi_io_op_kind accept_kind = {
    .name = "accept", .attempt = try_accept, .never_a_file = true};

static int accept_until(const char *function, int fd, struct sockaddr *address, unsigned *size,
                        int64_t deadline)
{
    bool is_tcp = fi_opened_short_read_drains(fd);
    int one = 1, got;

    if (address && !size)
        return fi_message_null(function, "size", "the capacity of address");
    got = (int)fi_io_op_run(&(fi_io_op){.kind = &accept_kind,
                                        .fd = fd,
                                        .direction = FI_IO_READ,
                                        .deadline = deadline,
                                        .buf = address,
                                        .more = size});
    if (got < 0)
        return got;
    if (!is_tcp && is_internet(got)) {
        setsockopt(got, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        is_tcp = true;
    }
    fi_opened_register(got, (fi_fd_kind){.short_read_drains = is_tcp});
    return got;
}

int filch_accept_from_until(int fd, struct sockaddr *address, unsigned *size, int64_t deadline)
{
    return accept_until(__func__, fd, address, size, deadline);
}

int filch_accept_from(int fd, struct sockaddr *address, unsigned *size)
{
    return accept_until(__func__, fd, address, size, FILCH_FOREVER);
}

int filch_accept_until(int fd, int64_t deadline)
{
    return accept_until(__func__, fd, NULL, NULL, deadline);
}

int filch_accept(int fd)
{
    return accept_until(__func__, fd, NULL, NULL, FILCH_FOREVER);
}

/* ---- port ---- */

int filch_local_port(int fd)
{
    struct sockaddr_storage a = {0};
    socklen_t n = sizeof a;

    if (getsockname(fd, (struct sockaddr *)&a, &n) < 0)
        return -errno;
    if (a.ss_family == AF_INET)
        return ntohs(((struct sockaddr_in *)(void *)&a)->sin_port);
    if (a.ss_family == AF_INET6)
        return ntohs(((struct sockaddr_in6 *)(void *)&a)->sin6_port);
    return -EAFNOSUPPORT;
}
