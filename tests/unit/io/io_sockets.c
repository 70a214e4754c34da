/* Sockets: messages with flags and addresses, UDP, shared ports, inherited listeners, and lookups
 * of addresses. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "unit/io/helpers.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* Run the body on a fiber and in a thread. */
static void on_both(void *(*body)(void *))
{
    on_fiber(body, NULL);
    in_thread(body, NULL);
}

static void close_both(const int fd[2])
{
    CHECK_INT(filch_close(fd[0]), 0);
    CHECK_INT(filch_close(fd[1]), 0);
}

/* ---- accept with an address ---- */

static void *accept_from_body(void *arg)
{
    struct sockaddr_in at = {0};
    unsigned size = sizeof at;
    int s = filch_listen("127.0.0.1", 0, 4), fd, peer;

    (void)arg;
    CHECK_INT(filch_accept_from_until(s, (struct sockaddr *)&at, &size, 0), -ETIMEDOUT);
    fd = filch_connect("127.0.0.1", filch_local_port(s));
    size = sizeof at;
    peer = filch_accept_from(s, (struct sockaddr *)&at, &size);
    CHECK(peer >= 0);
    CHECK_INT(size, sizeof at);
    CHECK_INT(at.sin_family, AF_INET);
    CHECK_INT(ntohs(at.sin_port), filch_local_port(fd));
    close_both((int[]){fd, peer});
    CHECK_INT(filch_close(s), 0);
    return NULL;
}

static void accept_from(void)
{
    on_both(accept_from_body);
}

/* ---- flags ---- */

/* One byte, because chaos builds cut longer messages of a stream. */
static void *flags_body(void *arg)
{
    char buf[8] = "";
    int fd[2];

    (void)arg;
    CHECK_INT(filch_socketpair(fd), 0);
    CHECK_INT(filch_recv(fd[0], buf, sizeof buf, MSG_DONTWAIT), -EAGAIN);
    CHECK_INT(filch_recv_until(fd[0], buf, sizeof buf, 0, filch_now() + FILCH_MS(2)), -ETIMEDOUT);
    CHECK_INT(filch_send(fd[1], "a", 1, 0), 1);
    CHECK_INT(filch_recv(fd[0], buf, sizeof buf, MSG_PEEK), 1);
    CHECK_INT(filch_recv(fd[0], buf, sizeof buf, MSG_DONTWAIT), 1);
    CHECK_INT(buf[0], 'a');
    CHECK_INT(filch_close(fd[0]), 0);
    CHECK_INT(filch_send(fd[1], "x", 1, 0), -EPIPE); /* and no SIGPIPE */
    CHECK_INT(filch_close(fd[1]), 0);
    CHECK_INT(filch_recv(-1, buf, 1, 0), -EBADF);
    return NULL;
}

static void *full_body(void *arg)
{
    static char big[1 << 16];
    int fd[2];

    (void)arg;
    CHECK_INT(filch_socketpair(fd), 0);
    while (filch_send(fd[0], big, sizeof big, MSG_DONTWAIT) > 0)
        ;
    CHECK_INT(filch_send(fd[0], big, 1, MSG_DONTWAIT), -EAGAIN);
    CHECK_INT(filch_send_until(fd[0], big, 1, 0, filch_now() + FILCH_MS(2)), -ETIMEDOUT);
    close_both(fd);
    return NULL;
}

static void flags(void)
{
    on_both(flags_body);
    on_both(full_body);
}

/* ---- UDP ---- */

static void *echo_once(void *arg)
{
    int fd = (int)(intptr_t)arg;
    struct sockaddr_storage from;
    unsigned size = sizeof from;
    char buf[64];
    ssize_t n = filch_recvfrom(fd, buf, sizeof buf, 0, (struct sockaddr *)&from, &size);

    if (n >= 0)
        n = filch_sendto(fd, buf, (size_t)n, 0, (struct sockaddr *)&from, size);
    return (void *)(intptr_t)n;
}

static void *udp_body(void *arg)
{
    char buf[64] = "";
    int s = filch_udp_bind("127.0.0.1", 0, 0), fd;
    filch_fiber *server = filch_fiber_start(echo_once, (void *)(intptr_t)s);
    void *n;

    (void)arg;
    CHECK(s >= 0);
    await_waiting(s, FI_IO_READ, 1);
    fd = filch_udp_connect("127.0.0.1", filch_local_port(s));
    CHECK(fd >= 0);
    CHECK_INT(filch_send(fd, "hello", 5, 0), 5);
    CHECK_INT(filch_recv(fd, buf, 2, MSG_TRUNC), 5);
    CHECK(memcmp(buf, "he", 2) == 0);
    CHECK_INT(filch_fiber_join(server, &n), 0);
    CHECK_INT((intptr_t)n, 5);
    CHECK_INT(filch_send(fd, "", 0, 0), 0);
    CHECK_INT(filch_recv(s, buf, sizeof buf, 0), 0);
    CHECK_INT(filch_close(s), 0);
    CHECK_INT(filch_send(fd, "x", 1, 0), 1);
    CHECK_INT(filch_recv(fd, buf, 1, 0), -ECONNREFUSED);
    CHECK_INT(filch_close(fd), 0);
    return NULL;
}

/* Several messages arrive at once.  A short one does not hide the next. */
static void *udp_several_body(void *arg)
{
    int s = filch_udp_bind(NULL, 0, 0), fd = filch_udp_connect_until(NULL, filch_local_port(s), 0);
    char buf[64];

    (void)arg;
    CHECK(fd >= 0);
    for (int i = 1; i <= 8; i++)
        CHECK_INT(filch_send(fd, "12345678", (size_t)i, 0), i);
    for (int i = 1; i <= 8; i++)
        CHECK_INT(i % 2 ? filch_recv(s, buf, sizeof buf, 0) : filch_read(s, buf, sizeof buf), i);
    CHECK_INT(filch_recv_until(s, buf, sizeof buf, 0, filch_now() + FILCH_MS(2)), -ETIMEDOUT);
    close_both((int[]){s, fd});
    return NULL;
}

static void udp_wait_ends(void)
{
    int s = filch_udp_bind("127.0.0.1", 0, 0);
    filch_fiber *f = filch_fiber_start(echo_once, (void *)(intptr_t)s);
    void *n;

    await_waiting(s, FI_IO_READ, 1);
    filch_fiber_cancel(f);
    CHECK_INT(filch_fiber_join(f, &n), 0);
    CHECK_INT((intptr_t)n, -ECANCELED);
    f = filch_fiber_start(echo_once, (void *)(intptr_t)s);
    await_waiting(s, FI_IO_READ, 1);
    CHECK_INT(filch_close(s), 0);
    CHECK_INT(filch_fiber_join(f, &n), 0);
    CHECK_INT((intptr_t)n, -ECANCELED);
}

static void udp(void)
{
    on_both(udp_body);
    on_both(udp_several_body);
    udp_wait_ends();
    CHECK_INT(filch_udp_bind("/tmp/x", 0, 0), -EINVAL);
    CHECK_INT(filch_udp_connect("/tmp/x", 0), -EINVAL);
    CHECK_INT(filch_udp_bind("127.0.0.1", 65536, 0), -EINVAL);
    CHECK_INT(filch_udp_bind("127.0.0.1", 0, 4), -EINVAL);
}

/* ---- shared ports ---- */

static void *reuseport_body(void *arg)
{
    int a = filch_listen_flags("127.0.0.1", 0, 4, FILCH_REUSEPORT), port = filch_local_port(a);
    int b = filch_listen_flags("127.0.0.1", port, 4, FILCH_REUSEPORT), plain;

    (void)arg;
    CHECK(a >= 0);
    CHECK(b >= 0);
    CHECK_INT(filch_listen("127.0.0.1", port, 4), -EADDRINUSE);
    CHECK_INT(filch_listen_flags("127.0.0.1", 0, 4, 2), -EINVAL);
    close_both((int[]){a, b});
    plain = filch_listen("127.0.0.1", 0, 4);
    CHECK_INT(filch_listen_flags("127.0.0.1", filch_local_port(plain), 4, FILCH_REUSEPORT),
              -EADDRINUSE);
    CHECK_INT(filch_close(plain), 0);
    a = filch_udp_bind("127.0.0.1", 0, FILCH_REUSEPORT);
    b = filch_udp_bind("127.0.0.1", filch_local_port(a), FILCH_REUSEPORT);
    CHECK(b >= 0);
    CHECK_INT(filch_udp_bind("127.0.0.1", filch_local_port(a), 0), -EADDRINUSE);
    close_both((int[]){a, b});
    return NULL;
}

static void reuseport(void)
{
    on_both(reuseport_body);
}

/* ---- inherited listeners ---- */

static void *accept_one(void *listener)
{
    return (void *)(intptr_t)filch_accept((int)(intptr_t)listener);
}

/* [a program whose descriptors 3, 4 and 5 are "web", "admin" and "web"; 4 is in blocking mode] */
static int inherited_main(void)
{
    int fd, peer, flags = fcntl(4, F_GETFL);

    CHECK_INT(filch_listen_inherited(NULL, 0), 3);
    CHECK_INT(filch_listen_inherited(NULL, 2), 5);
    CHECK_INT(filch_listen_inherited(NULL, 3), -ENOENT);
    CHECK_INT(filch_listen_inherited("web", 0), 3);
    CHECK_INT(filch_listen_inherited("web", 1), 5);
    CHECK_INT(filch_listen_inherited("web", 2), -ENOENT);
    CHECK_INT(filch_listen_inherited("we", 0), -ENOENT);
    CHECK_INT(filch_listen_inherited("admin", 0), 4);
    CHECK_INT(fcntl(4, F_GETFD), FD_CLOEXEC);
    CHECK_INT(flags & O_NONBLOCK, 0);
    fd = filch_connect("127.0.0.1", filch_local_port(4));
    CHECK(fd >= 0);
    peer = (int)(intptr_t)on_fiber(accept_one, (void *)4);
    CHECK(peer >= 0);
    CHECK_INT(fcntl(4, F_GETFL), flags);
    CHECK_INT(filch_close(peer), 0);
    CHECK_INT(filch_close(fd), 0);
    CHECK_INT(filch_close(4), 0);
    CHECK_INT(filch_listen_inherited("admin", 0), -EBADF);
    setenv("LISTEN_PID", "1", 1);
    CHECK_INT(filch_listen_inherited(NULL, 0), -ENOENT);
    unsetenv("LISTEN_PID");
    CHECK_INT(filch_listen_inherited(NULL, 0), -ENOENT);
    return filch_stop() < 0;
}

static int listen_in_blocking_mode(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    CHECK_INT(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    CHECK_INT(listen(fd, 4), 0);
    return fd;
}

static void run_inherited(void)
{
    char *const argv[] = {(char *)"io_sockets", (char *)"inherited", NULL};
    int fd[3];
    char pid[32];

    for (int i = 0; i < 3; i++)
        fd[i] = fcntl(listen_in_blocking_mode(), F_DUPFD, 10);
    for (int i = 0; i < 3; i++)
        dup2(fd[i], 3 + i);
    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    setenv("LISTEN_PID", pid, 1);
    setenv("LISTEN_FDS", "3", 1);
    setenv("LISTEN_FDNAMES", "web:admin:web", 1);
    execv("/proc/self/exe", argv);
    _exit(1);
}

static void test_inherited(void **state)
{
    pid_t child;
    int status;

    (void)state;
    CHECK_INT(filch_listen_inherited(NULL, 0), -ENOENT);
#ifdef FILCH_EMULATED
    puts("skipped: a program cannot execute itself under an emulator");
    return;
#endif
    child = fork();
    CHECK(child >= 0);
    if (child == 0)
        run_inherited();
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
}

/* ---- addresses ---- */

static int port_of(const struct addrinfo *a)
{
    return ntohs(((const struct sockaddr_in *)(const void *)a->ai_addr)->sin_port);
}

static void *addresses_body(void *arg)
{
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_DGRAM}, *list = NULL;
    char too_long[2000];

    (void)arg;
    CHECK_INT(filch_getaddrinfo("127.0.0.1", "8080", &hints, &list), 0);
    CHECK_INT(list->ai_family, AF_INET);
    CHECK_INT(list->ai_socktype, SOCK_DGRAM);
    CHECK_INT(port_of(list), 8080);
    freeaddrinfo(list);
    CHECK_INT(filch_getaddrinfo("localhost", NULL, NULL, &list), 0);
    freeaddrinfo(list);
    hints.ai_flags = AI_PASSIVE;
    CHECK_INT(filch_getaddrinfo(NULL, "1", &hints, &list), 0);
    CHECK_INT(port_of(list), 1);
    freeaddrinfo(list);
    list = NULL;
    hints.ai_flags = AI_NUMERICHOST;
    CHECK_INT(filch_getaddrinfo("localhost", NULL, &hints, &list), -ENOENT);
    hints.ai_flags = 0;
    CHECK_INT(filch_getaddrinfo("127.0.0.1", "no-such-service", &hints, &list), -ENOENT);
    hints.ai_family = 9999;
    CHECK_INT(filch_getaddrinfo("127.0.0.1", NULL, &hints, &list), -EINVAL);
    memset(too_long, 'x', sizeof too_long);
    too_long[sizeof too_long - 1] = '\0';
    CHECK_INT(filch_getaddrinfo(too_long, NULL, NULL, &list), -ENOENT);
    CHECK(list == NULL);
    CHECK_INT(filch_getaddrinfo(NULL, NULL, NULL, &list), -EINVAL);
    CHECK_INT(filch_getaddrinfo("127.0.0.1", NULL, NULL, NULL), -EINVAL);
    return NULL;
}

static void addresses(void)
{
    on_both(addresses_body);
}

WITH_WORKERS(accept_from)
WITH_WORKERS(flags)
WITH_WORKERS(udp)
WITH_WORKERS(reuseport)
WITH_WORKERS(addresses)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {CHECK_EACH(test_accept_from, test_flags, test_udp,
                                                  test_reuseport, test_inherited, test_addresses)};

    if (argc > 1 && strcmp(argv[1], "inherited") == 0)
        return inherited_main();
    return CHECK_RUN(tests);
}
