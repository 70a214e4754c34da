/* httpd-epoll PORT: the lower bound for an epoll server.  It answers each request with the same
 * short response.  Each worker is a thread with its own listening socket and its own epoll
 * descriptor. Between the system calls it only searches for the end of a request. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WORKERS_MAX = 64, EVENTS_MAX = 256, BUFFER_SIZE = 4096, CONNECTIONS_MAX = 65536 };

static const char response[] =
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n"
    "\r\nHello, world!";

/* For each descriptor, the number of bytes seen of the "\r\n\r\n" that ends a request.  A request
 * may arrive in several reads. */
static unsigned char seen[CONNECTIONS_MAX];

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "httpd-epoll: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* Number of requests that end in these bytes. */
static int count_ends(int fd, const char *bytes, ssize_t n)
{
    static const char end[] = "\r\n\r\n";
    unsigned char at = seen[fd];
    int ends = 0;
    for (ssize_t i = 0; i < n; i++) {
        at = bytes[i] == end[at] ? (unsigned char)(at + 1) : bytes[i] == '\r';
        if (at == 4) {
            ends++;
            at = 0;
        }
    }
    seen[fd] = at;
    return ends;
}

/* The response is short, so a partial send means that the client does not read. */
static int serve(int fd)
{
    char bytes[BUFFER_SIZE];
    ssize_t n = read(fd, bytes, sizeof bytes);
    if (n <= 0)
        return n < 0 && errno == EAGAIN ? 0 : -1;
    for (int left = count_ends(fd, bytes, n); left > 0; left--)
        if (send(fd, response, sizeof response - 1, MSG_NOSIGNAL) != sizeof response - 1)
            return -1;
    return 0;
}

static void epoll_add(int poll, int fd)
{
    struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};
    if (epoll_ctl(poll, EPOLL_CTL_ADD, fd, &e) != 0)
        die("epoll_ctl");
}

static void accept_all(int poll, int listener)
{
    const int yes = 1;
    for (int fd; (fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
        if (fd >= CONNECTIONS_MAX) {
            close(fd);
            continue;
        }
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        seen[fd] = 0;
        epoll_add(poll, fd);
    }
}

static void *work(void *arg)
{
    int listener = *(int *)arg, poll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event events[EVENTS_MAX];
    if (poll < 0)
        die("epoll_create1");
    epoll_add(poll, listener);
    for (;;) {
        int n = epoll_wait(poll, events, EVENTS_MAX, -1);
        for (int i = 0; i < n; i++) {
            int fd = events[i].data.fd;
            if (fd == listener)
                accept_all(poll, listener);
            else if (serve(fd) < 0)
                close(fd);
        }
    }
}

/* All workers listen on the same port (SO_REUSEPORT); the kernel distributes the connections. */
static int listen_at(int port)
{
    const int yes = 1;
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes) != 0 ||
        bind(fd, (struct sockaddr *)&at, sizeof at) != 0 || listen(fd, 1024) != 0)
        die("listen");
    return fd;
}

static int port_of(int fd)
{
    struct sockaddr_in at = {0};
    socklen_t size = sizeof at;
    if (getsockname(fd, (struct sockaddr *)&at, &size) != 0)
        die("getsockname");
    return ntohs(at.sin_port);
}

static int number_of_workers(void)
{
    const char *workers = getenv("HTTPD_WORKERS");
    int n = workers ? atoi(workers) : 1;
    return n < 1 ? 1 : n > WORKERS_MAX ? WORKERS_MAX : n;
}

int main(int argc, char **argv)
{
    static int listeners[WORKERS_MAX];
    int workers = number_of_workers(), port = argc > 1 ? atoi(argv[1]) : 0;
    for (int i = 0; i < workers; i++) {
        listeners[i] = listen_at(port);
        port = port_of(listeners[0]);
    }
    printf("%d\n", port);
    fflush(stdout);
    for (int i = 1; i < workers; i++) {
        pthread_t t;
        if ((errno = pthread_create(&t, NULL, work, &listeners[i])) != 0)
            die("pthread_create");
    }
    work(&listeners[0]);
    return 0;
}
