/* Incoming connections. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* accept4 */
#endif
#include "base/chaos.h"
#include "io/address.h"
#include "io/op.h"
#include "io/opened.h"

#include <filch/io.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

/* ---- listen ---- */

/* Accepted sockets inherit TCP_NODELAY.  An IPv6 listener accepts IPv4 as well. */
static void listener_set_options(int fd, int family)
{
    int zero = 0, one = 1;

    if (family == AF_UNIX)
        return;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof zero);
}

__attribute__((noinline)) static int open_listener(const struct addrinfo *a, int backlog)
{
    int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), e;

    if (fd < 0)
        return -errno;
    listener_set_options(fd, a->ai_family);
    if (bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, backlog) == 0) {
        fi_opened_register(fd, (fi_fd_kind){.short_read_drains = a->ai_family != AF_UNIX});
        return fd;
    }
    e = -errno;
    filch_close(fd);
    return e;
}

/* Listen on the first address that works. */
static int listen_on_first(const struct addrinfo *list, int family, int backlog, int error)
{
    int fd = error;

    for (const struct addrinfo *a = list; a && fd < 0; a = a->ai_next)
        if (family == AF_UNSPEC || a->ai_family == family)
            fd = open_listener(a, backlog);
    return fd;
}

int filch_listen(const char *host, int port, int backlog)
{
    fi_addresses found;
    int fd = fi_addresses_resolve(&found, host, port, true, FILCH_FOREVER);

    if (fd < 0)
        return fd;
    fd = -ENOENT;
    if (!host)
        fd = listen_on_first(found.list, AF_INET6, backlog, fd);
    if (fd < 0 && fd != -EADDRINUSE)
        fd = listen_on_first(found.list, AF_UNSPEC, backlog, fd);
    fi_addresses_fini(&found);
    return fd;
}

/* ---- accept ---- */

/* Connections that were aborted before accept4 are skipped. */
static ssize_t try_accept(fi_io_op *op)
{
    ssize_t fd;

    do
        fd = fi_chaos(8)
                 ? -ECONNABORTED
                 : fi_syscall_result(accept4(op->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK));
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

int filch_accept_until(int fd, int64_t deadline)
{
    bool is_tcp = fi_opened_short_read_drains(fd);
    int one = 1, got;

    got = (int)fi_io_op_run(
        &(fi_io_op){.kind = &accept_kind, .fd = fd, .direction = FI_IO_READ, .deadline = deadline});
    if (got < 0)
        return got;
    if (!is_tcp && is_internet(got)) {
        setsockopt(got, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        is_tcp = true;
    }
    fi_opened_register(got, (fi_fd_kind){.short_read_drains = is_tcp});
    return got;
}

int filch_accept(int fd)
{
    return filch_accept_until(fd, FILCH_FOREVER);
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
