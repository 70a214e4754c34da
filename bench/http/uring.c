/* httpd-uring PORT: the same answer as httpd-epoll, by hand, with one thread and one io_uring that is set up as Filch's is.  Its ways to
 * receive and to accept can be chosen, to see what each is worth (docs/decisions/009):
 *
 *     HTTPD_RECEIVE  once (a request for each receive), later (the same, without a look before the wait), many (one request for
 *                    all receives of a connection, into buffers that all connections share), own (the same, with a buffer of its own for each)
 *     HTTPD_ACCEPT   poll (wait, then accept4), once, many (a request for each connection, or one for all)
 *     HTTPD_CLOSE    1: close after each answer; not with many or own */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ASKED_MAX = 256, DONE_MAX = 4096, ROOM = 1024, SHARED = 4096, MOST_CONNECTIONS = 32768 };
enum { PAGE = 4096, OWN = 2 /* places, as one must stay free */, LISTENER = MOST_CONNECTIONS };

typedef enum way { POLL, ONCE, LATER, MANY, OWN_BUFFER } way;

static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n"
                             "\r\nHello, world!";

static way receives, accepts;
static int closes;
static unsigned char seen[MOST_CONNECTIONS];            /* of the blank line that ends a request */
static char bytes[MOST_CONNECTIONS][ROOM];              /* by connection */
static struct io_uring_buf_ring *own[MOST_CONNECTIONS]; /* likewise */
static struct io_uring_buf_ring *shared;
static char shared_bytes[SHARED][ROOM];

static int ring;
static uint32_t pending, asked_mask, done_mask;
static _Atomic uint32_t *asked_tail, *done_head, *done_tail;
static struct io_uring_sqe *asked;
static struct io_uring_cqe *done;

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "httpd-uring: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* ---- the ring ---- */

static void *map(size_t size, off_t what)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, what);
    if (p == MAP_FAILED)
        die("mmap");
    return p;
}

static void open_ring(void)
{
    struct io_uring_params p = {.flags = IORING_SETUP_CQSIZE | IORING_SETUP_SUBMIT_ALL,
                                .cq_entries = DONE_MAX};
    ring = (int)syscall(SYS_io_uring_setup, ASKED_MAX, &p);
    if (ring < 0)
        die("io_uring_setup");
    size_t end_asked = p.sq_off.array + p.sq_entries * sizeof(uint32_t);
    size_t end_done = p.cq_off.cqes + p.cq_entries * sizeof *done;
    char *queues = map(end_asked > end_done ? end_asked : end_done, IORING_OFF_SQ_RING);
    asked = map(p.sq_entries * sizeof *asked, (off_t)IORING_OFF_SQES);
    asked_tail = (void *)(queues + p.sq_off.tail);
    asked_mask = p.sq_entries - 1;
    done_head = (void *)(queues + p.cq_off.head);
    done_tail = (void *)(queues + p.cq_off.tail);
    done_mask = p.cq_entries - 1;
    done = (void *)(queues + p.cq_off.cqes);
    for (uint32_t i = 0; i < p.sq_entries; i++)
        ((uint32_t *)(void *)(queues + p.sq_off.array))[i] = i;
}

static void enter(uint32_t wait_for)
{
    long n = syscall(SYS_io_uring_enter, ring, pending, wait_for,
                     wait_for ? IORING_ENTER_GETEVENTS : 0, NULL, (size_t)0);
    if (n < 0 && errno != EINTR)
        die("io_uring_enter");
    if (n > 0)
        pending -= (uint32_t)n;
}

static void ask(const struct io_uring_sqe *what)
{
    uint32_t tail = atomic_load_explicit(asked_tail, memory_order_relaxed);
    while (pending > asked_mask)
        enter(0);
    asked[tail & asked_mask] = *what;
    atomic_store_explicit(asked_tail, tail + 1, memory_order_release);
    pending++;
}

/* ---- buffers ---- */

static struct io_uring_buf_ring *new_buffers(uint32_t places, uint16_t group)
{
    size_t size = places * sizeof(struct io_uring_buf);
    struct io_uring_buf_ring *r = mmap(NULL, size < PAGE ? PAGE : size, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct io_uring_buf_reg as = {.ring_addr = (uintptr_t)r, .ring_entries = places, .bgid = group};
    if (r == MAP_FAILED ||
        syscall(SYS_io_uring_register, ring, IORING_REGISTER_PBUF_RING, &as, 1) < 0)
        die("buffers");
    return r;
}

static void offer(struct io_uring_buf_ring *r, uint32_t places, char *at, uint16_t number)
{
    uint16_t tail = r->tail;
    struct io_uring_buf *b = &r->bufs[tail & (places - 1)];
    b->addr = (uintptr_t)at;
    b->len = ROOM;
    b->bid = number;
    atomic_store_explicit((_Atomic uint16_t *)(void *)&r->tail, (uint16_t)(tail + 1),
                          memory_order_release);
}

/* ---- connections ---- */

static void ask_to_receive(int fd)
{
    struct io_uring_sqe s = {.opcode = IORING_OP_RECV, .fd = fd, .user_data = (uint32_t)fd};
    if (receives == ONCE || receives == LATER) {
        s.addr = (uintptr_t)bytes[fd];
        s.len = ROOM;
        s.ioprio = receives == LATER ? IORING_RECVSEND_POLL_FIRST : 0;
    } else {
        s.ioprio = IORING_RECV_MULTISHOT;
        s.flags = IOSQE_BUFFER_SELECT;
        s.buf_group = (uint16_t)(receives == MANY ? 0 : fd + 1);
    }
    ask(&s);
}

static void begin(int fd)
{
    if (fd >= MOST_CONNECTIONS) {
        close(fd);
        return;
    }
    seen[fd] = 0;
    if (receives == OWN_BUFFER && !own[fd]) {
        own[fd] = new_buffers(OWN, (uint16_t)(fd + 1));
        offer(own[fd], OWN, bytes[fd], 0);
    }
    ask_to_receive(fd);
}

static int count_ends(int fd, const char *in, int n)
{
    static const char end[] = "\r\n\r\n";
    unsigned char at = seen[fd];
    int ends = 0;
    for (int i = 0; i < n; i++) {
        at = in[i] == end[at] ? (unsigned char)(at + 1) : in[i] == '\r';
        if (at == 4) {
            ends++;
            at = 0;
        }
    }
    seen[fd] = at;
    return ends;
}

/* So short an answer fits into the socket, or its reader is gone. */
static int reply(int fd, const char *in, int n)
{
    int ends = count_ends(fd, in, n);
    for (int left = ends; left > 0; left--)
        if (send(fd, answer, sizeof answer - 1, MSG_NOSIGNAL) != sizeof answer - 1)
            return -1;
    return closes && ends > 0 ? -1 : 0;
}

/* The buffer is free again after the answer. */
static int serve(int fd, int n, uint16_t buffer)
{
    char *in = receives == MANY ? shared_bytes[buffer] : bytes[fd];
    int e = reply(fd, in, n);
    if (receives == MANY)
        offer(shared, SHARED, in, buffer);
    else if (receives == OWN_BUFFER)
        offer(own[fd], OWN, in, 0);
    return e;
}

/* A request that goes on keeps its file: it ends with it. */
static void received(int fd, const struct io_uring_cqe *c)
{
    int goes_on = (c->flags & IORING_CQE_F_MORE) != 0, e = -1;
    if (c->res > 0)
        e = serve(fd, c->res, (uint16_t)(c->flags >> IORING_CQE_BUFFER_SHIFT));
    else if (c->res == -ENOBUFS)
        e = 0;
    if (e < 0 && goes_on)
        shutdown(fd, SHUT_RDWR);
    else if (e < 0)
        close(fd);
    else if (!goes_on)
        ask_to_receive(fd);
}

/* ---- the listener ---- */

static void ask_to_accept(int listener)
{
    struct io_uring_sqe s = {.fd = listener, .user_data = LISTENER};
    s.opcode = accepts == POLL ? IORING_OP_POLL_ADD : IORING_OP_ACCEPT;
    if (accepts == POLL) {
        s.poll32_events = POLLIN;
    } else {
        s.accept_flags = SOCK_NONBLOCK | SOCK_CLOEXEC;
        s.ioprio = accepts == MANY ? IORING_ACCEPT_MULTISHOT : 0;
    }
    ask(&s);
}

static void came(int listener, const struct io_uring_cqe *c)
{
    if (accepts != POLL && c->res >= 0)
        begin(c->res);
    if (accepts == POLL)
        for (int fd; (fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;)
            begin(fd);
    if (!(c->flags & IORING_CQE_F_MORE))
        ask_to_accept(listener);
}

static int listen_at(int port)
{
    const int yes = 1;
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) != 0 ||
        bind(fd, (struct sockaddr *)&at, size) != 0 || listen(fd, 1024) != 0 ||
        getsockname(fd, (struct sockaddr *)&at, &size) != 0)
        die("listen");
    printf("%d\n", ntohs(at.sin_port));
    fflush(stdout);
    return fd;
}

static void serve_all(int listener)
{
    ask_to_accept(listener);
    for (uint32_t head = 0;; head++) {
        while (head == atomic_load_explicit(done_tail, memory_order_acquire))
            enter(1);
        struct io_uring_cqe c = done[head & done_mask];
        atomic_store_explicit(done_head, head + 1, memory_order_release);
        if (c.user_data == LISTENER)
            came(listener, &c);
        else
            received((int)c.user_data, &c);
    }
}

/* ---- what is chosen ---- */

static way choice(const char *name, way otherwise)
{
    static const char *const words[] = {
        [POLL] = "poll", [ONCE] = "once", [LATER] = "later", [MANY] = "many", [OWN_BUFFER] = "own"};
    const char *asked_for = getenv(name);
    for (int i = POLL; asked_for && i <= OWN_BUFFER; i++)
        if (strcmp(asked_for, words[i]) == 0)
            return (way)i;
    return otherwise;
}

int main(int argc, char **argv)
{
    receives = choice("HTTPD_RECEIVE", ONCE);
    accepts = choice("HTTPD_ACCEPT", POLL);
    closes = getenv("HTTPD_CLOSE") != NULL;
    open_ring();
    if (receives == MANY) {
        shared = new_buffers(SHARED, 0);
        for (int i = 0; i < SHARED; i++)
            offer(shared, SHARED, shared_bytes[i], (uint16_t)i);
    }
    serve_all(listen_at(argc > 1 ? atoi(argv[1]) : 0));
    return 0;
}
