/* Bytes arrive unchanged over all kinds of connections, in all sizes and pieces. */
#include "child.h"
#include "unit/io/helpers.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

#define BIG ((size_t)SCALED(4 << 20))

static unsigned char byte_at(size_t i)
{
    return (unsigned char)(i * 7 + i / 251);
}

static unsigned char *make_bytes(size_t n)
{
    unsigned char *p = malloc(n);

    CHECK(p != NULL);
    for (size_t i = 0; i < n; i++)
        p[i] = byte_at(i);
    return p;
}

/* ---- echo ---- */

static void *echo(void *arg)
{
    int fd = (int)(intptr_t)arg;
    char buf[1000];
    ssize_t n;

    while ((n = filch_read(fd, buf, sizeof buf)) > 0)
        CHECK_INT(filch_write_all(fd, buf, (size_t)n), n);
    CHECK_INT(n, 0);
    CHECK_INT(filch_close(fd), 0);
    return NULL;
}

static void *serve_one(void *arg)
{
    int fd = filch_accept((int)(intptr_t)arg);

    CHECK(fd >= 0);
    return echo((void *)(intptr_t)fd);
}

/* A short exchange, then more bytes than any buffer holds, sent and received at once. */
typedef struct sender {
    int fd;
    unsigned char *bytes;
    size_t n;
} sender;

static void *send_all(void *arg)
{
    sender *s = arg;

    CHECK_INT(filch_write_all(s->fd, s->bytes, s->n), s->n);
    return NULL;
}

static void talk(int fd)
{
    char buf[16];

    for (int i = 0; i < 50; i++) {
        CHECK_INT(filch_write_all(fd, "hello", 5), 5);
        CHECK_INT(filch_read_all(fd, buf, 5), 5);
        CHECK(memcmp(buf, "hello", 5) == 0);
    }
}

static void talk_much(int fd, size_t n)
{
    sender s = {fd, make_bytes(n), n};
    unsigned char *back = malloc(n);
    filch_fiber *f = filch_fiber_start(send_all, &s);

    CHECK_INT(filch_read_all(fd, back, n), n);
    CHECK_INT(filch_fiber_join(f, NULL), 0);
    CHECK(memcmp(back, s.bytes, n) == 0);
    free(s.bytes);
    free(back);
}

/* After a half close the other side sees the end, and closes. */
static void end_talk(int fd)
{
    char c;

    CHECK_INT(shutdown(fd, SHUT_WR), 0);
    CHECK_INT(filch_read(fd, &c, 1), 0);
    CHECK_INT(filch_read(fd, &c, 1), 0);
    CHECK_INT(filch_close(fd), 0);
}

static void *client(void *arg)
{
    int fd = (int)(intptr_t)arg;

    talk(fd);
    talk_much(fd, BIG);
    end_talk(fd);
    return NULL;
}

static void *over_listener(void *arg)
{
    const char *host = arg;
    int s = filch_listen(host, 0, 16), fd;
    filch_fiber *f;

    CHECK(s >= 0);
    f = filch_fiber_start(serve_one, (void *)(intptr_t)s);
    fd = strchr(host, '/') ? filch_connect(host, 0) : filch_connect(host, filch_local_port(s));
    CHECK(fd >= 0);
    client((void *)(intptr_t)fd);
    CHECK_INT(filch_fiber_join(f, NULL), 0);
    CHECK_INT(filch_close(s), 0);
    return NULL;
}

static void over_tcp(void)
{
    on_fiber(over_listener, (void *)"127.0.0.1");
    on_fiber(over_listener, (void *)"localhost");
}

static void over_unix(void)
{
    char path[64];

    snprintf(path, sizeof path, "/tmp/filch-io-%d", (int)getpid());
    unlink(path);
    on_fiber(over_listener, path);
    unlink(path);
}

static void *pair_body(void *arg)
{
    int fd[2];
    filch_fiber *f;

    (void)arg;
    CHECK_INT(filch_socketpair(fd), 0);
    f = filch_fiber_start(echo, (void *)(intptr_t)fd[0]);
    client((void *)(intptr_t)fd[1]);
    CHECK_INT(filch_fiber_join(f, NULL), 0);
    return NULL;
}

static void over_socketpair(void)
{
    on_fiber(pair_body, NULL);
}

/* ---- pipes ---- */

static void *drain(void *arg)
{
    const int *fd = arg;
    unsigned char buf[3000];
    size_t at = 0;
    ssize_t n;

    while ((n = filch_read(*fd, buf, sizeof buf)) > 0)
        for (ssize_t i = 0; i < n; i++, at++)
            CHECK_INT(buf[i], byte_at(at));
    CHECK_INT(n, 0);
    return (void *)(intptr_t)at;
}

static void *pipe_body(void *arg)
{
    sender s = {0, make_bytes(BIG), BIG};
    filch_fiber *f;
    void *n;
    int fd[2];

    (void)arg;
    CHECK_INT(filch_pipe(fd), 0);
    f = filch_fiber_start(drain, &fd[0]);
    s.fd = fd[1];
    send_all(&s);
    CHECK_INT(filch_close(fd[1]), 0);
    CHECK_INT(filch_fiber_join(f, &n), 0);
    CHECK_INT((intptr_t)n, BIG);
    CHECK_INT(filch_close(fd[0]), 0);
    free(s.bytes);
    return NULL;
}

static void over_pipe(void)
{
    on_fiber(pipe_body, NULL);
}

/* ---- a server with many connections ---- */

#define CLIENTS 60
#define ROUNDS  40

static void *accept_many(void *arg)
{
    int s = (int)(intptr_t)arg;

    for (int i = 0; i < CLIENTS; i++) {
        int fd = filch_accept(s);
        filch_fiber *f;
        CHECK(fd >= 0);
        f = filch_fiber_start(echo, (void *)(intptr_t)fd);
        filch_fiber_detach(f);
    }
    return NULL;
}

static void *one_of_many(void *arg)
{
    int fd = filch_connect("127.0.0.1", (int)(intptr_t)arg);
    char buf[32], back[32];

    CHECK(fd >= 0);
    for (int i = 0; i < ROUNDS; i++) {
        int n = snprintf(buf, sizeof buf, "%d says %d", fd, i);
        CHECK_INT(filch_write_all(fd, buf, (size_t)n), n);
        CHECK_INT(filch_read_all(fd, back, (size_t)n), n);
        CHECK(memcmp(buf, back, (size_t)n) == 0);
    }
    end_talk(fd);
    return NULL;
}

static void *many_body(void *arg)
{
    int s = filch_listen("127.0.0.1", 0, CLIENTS);
    filch_fiber *all[CLIENTS], *server;

    (void)arg;
    CHECK(s >= 0);
    server = filch_fiber_start(accept_many, (void *)(intptr_t)s);
    for (int i = 0; i < CLIENTS; i++)
        all[i] = filch_fiber_start(one_of_many, (void *)(intptr_t)filch_local_port(s));
    for (int i = 0; i < CLIENTS; i++)
        CHECK_INT(filch_fiber_join(all[i], NULL), 0);
    CHECK_INT(filch_fiber_join(server, NULL), 0);
    CHECK_INT(filch_close(s), 0);
    return NULL;
}

static void many_connections(void)
{
    on_fiber(many_body, NULL);
}

/* ---- vectors, messages, files ---- */

typedef ssize_t move(int fd, const struct iovec *v, int n);

/* Read two vectors completely, in any number of pieces. */
static size_t move_all(move *some, int fd, const struct iovec two[2])
{
    struct iovec left[2] = {two[0], two[1]};
    size_t done = 0;

    while (left[0].iov_len + left[1].iov_len > 0) {
        ssize_t n = some(fd, left, 2);
        CHECK(n > 0);
        done += (size_t)n;
        for (int i = 0; i < 2; i++) {
            size_t part = (size_t)n < left[i].iov_len ? (size_t)n : left[i].iov_len;
            left[i].iov_base = (char *)left[i].iov_base + part;
            left[i].iov_len -= part;
            n -= (ssize_t)part;
        }
    }
    return done;
}

static ssize_t send_vectors(int fd, const struct iovec *v, int n)
{
    struct msghdr m = {.msg_iov = (void *)(uintptr_t)v, .msg_iovlen = (size_t)n};

    return filch_sendmsg(fd, &m, 0);
}

/* The results in the message header are set: here no sender address and no ancillary data. */
static ssize_t receive_vectors(int fd, const struct iovec *v, int n)
{
    char name[16], control[16];
    struct msghdr m = {.msg_iov = (void *)(uintptr_t)v,
                       .msg_iovlen = (size_t)n,
                       .msg_name = name,
                       .msg_namelen = sizeof name,
                       .msg_control = control,
                       .msg_controllen = sizeof control,
                       .msg_flags = -1};
    ssize_t got = filch_recvmsg(fd, &m, 0);

    CHECK_INT(m.msg_namelen, 0);
    CHECK_INT(m.msg_controllen, 0);
    CHECK_INT(m.msg_flags, 0);
    return got;
}

/* The kernel refuses these, and the vectors are not read. */
static void wrong_vectors(int from, int to, const struct iovec *v)
{
    CHECK(filch_readv(from, v, INT_MAX) < 0);
    CHECK(filch_readv(from, NULL, 2) < 0);
    CHECK(filch_writev(to, v, INT_MAX) < 0);
    CHECK(filch_writev(to, NULL, 2) < 0);
}

static void *vectors_body(void *arg)
{
    char a[3], b[4];
    struct iovec out[2] = {{(void *)"abc", 3}, {(void *)"defg", 4}}, in[2] = {{a, 3}, {b, 4}};
    struct msghdr m = {.msg_iov = out, .msg_iovlen = 2}, r = {.msg_iov = in, .msg_iovlen = 2};
    int fd[2];

    (void)arg;
    CHECK_INT(filch_socketpair(fd), 0);
    CHECK_INT(move_all(filch_writev, fd[0], out), 7);
    CHECK_INT(move_all(filch_readv, fd[1], in), 7);
    CHECK(memcmp(a, "abc", 3) == 0 && memcmp(b, "defg", 4) == 0);
    memset(a, 0, sizeof a);
    CHECK_INT(move_all(send_vectors, fd[0], out), 7);
    CHECK_INT(move_all(receive_vectors, fd[1], in), 7);
    CHECK(memcmp(a, "abc", 3) == 0 && memcmp(b, "defg", 4) == 0);
    CHECK_INT(filch_recvmsg_until(fd[1], &r, 0, 0), -ETIMEDOUT);
    CHECK_INT(filch_readv_until(fd[1], in, 2, 0), -ETIMEDOUT);
    CHECK_INT(filch_writev(fd[0], out, -1), -EINVAL);
    wrong_vectors(fd[1], fd[0], out);
    CHECK_INT(filch_close(fd[0]), 0);
    CHECK_INT(filch_close(fd[1]), 0);
    CHECK_INT(filch_pipe(fd), 0);
    CHECK_INT(move_all(filch_writev, fd[1], out), 7);
    CHECK_INT(move_all(filch_readv, fd[0], in), 7);
    CHECK_INT(filch_sendmsg(fd[1], &m, 0), -ENOTSOCK);
    CHECK_INT(filch_readv(fd[0], in, UIO_MAXIOV + 1), -EINVAL);
    wrong_vectors(fd[0], fd[1], out);
    CHECK_INT(filch_close(fd[0]), 0);
    CHECK_INT(filch_close(fd[1]), 0);
    return NULL;
}

static void vectors_and_messages(void)
{
    on_fiber(vectors_body, NULL);
    in_thread(vectors_body, NULL);
}

/* ---- short reads that do not drain ---- */

/* Let a read wait once, so that the descriptor is armed. */
static void arm_by_waiting(int from, int to)
{
    char c[8];

    CHECK_INT(filch_read_until(to, c, sizeof c, filch_now() + FILCH_MS(1)), -ETIMEDOUT);
    CHECK_INT(filch_write(from, "x", 1), 1);
    CHECK_INT(filch_read(to, c, sizeof c), 1);
}

static void check_read(int fd, const char *text)
{
    char c[8];

    CHECK_INT(filch_read(fd, c, sizeof c), strlen(text));
    CHECK(memcmp(c, text, strlen(text)) == 0);
}

/* A read ends before a message with a descriptor. */
static void *short_before_descriptor(void *arg)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {{0}};
    struct iovec v = {(void *)"ab", 2};
    struct msghdr m = {.msg_iov = &v,
                       .msg_iovlen = 1,
                       .msg_control = control.bytes,
                       .msg_controllen = sizeof control.bytes};
    int fd[2];

    (void)arg;
    CHECK_INT(filch_socketpair(fd), 0);
    arm_by_waiting(fd[0], fd[1]);
    *CMSG_FIRSTHDR(&m) = (struct cmsghdr){
        .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(CMSG_FIRSTHDR(&m)), &fd[0], sizeof(int));
    CHECK_INT(filch_sendmsg(fd[0], &m, 0), 2);
    CHECK_INT(filch_write_all(fd[0], "cd", 2), 2);
    check_read(fd[1], "ab");
    check_read(fd[1], "cd");
    CHECK_INT(filch_close(fd[0]), 0);
    CHECK_INT(filch_close(fd[1]), 0);
    return NULL;
}

/* A read ends before an urgent byte. */
static void *short_before_urgent(void *arg)
{
    int s = filch_listen("127.0.0.1", 0, 1), fd, peer;

    (void)arg;
    CHECK(s >= 0);
    fd = filch_connect("127.0.0.1", filch_local_port(s));
    peer = filch_accept(s);
    CHECK(fd >= 0 && peer >= 0);
    arm_by_waiting(fd, peer);
    CHECK_INT(filch_write_all(fd, "ab", 2), 2);
    CHECK_INT(send(fd, "!", 1, MSG_OOB), 1);
    CHECK_INT(filch_write_all(fd, "cd", 2), 2);
    check_read(peer, "ab");
    check_read(peer, "cd");
    CHECK_INT(filch_close(fd), 0);
    CHECK_INT(filch_close(peer), 0);
    CHECK_INT(filch_close(s), 0);
    return NULL;
}

static void short_reads(void)
{
    on_fiber(short_before_descriptor, NULL);
    on_fiber(short_before_urgent, NULL);
    in_thread(short_before_descriptor, NULL);
    in_thread(short_before_urgent, NULL);
}

static int make_file(size_t n)
{
    char path[] = "/tmp/filch-io-XXXXXX";
    int fd = mkstemp(path);
    unsigned char *p = make_bytes(n);

    CHECK(fd >= 0);
    unlink(path);
    CHECK_INT(filch_write_all(fd, p, n), n);
    CHECK_INT(lseek(fd, 0, SEEK_SET), 0);
    free(p);
    return fd;
}

static void *file_body(void *arg)
{
    size_t n = 100000, at = 0;
    int fd[2], file = make_file(n);
    off_t from = 0;
    filch_fiber *f;
    void *got;

    (void)arg;
    CHECK_INT((intptr_t)drain(&file), n);
    CHECK_INT(fcntl(file, F_GETFL) & O_NONBLOCK, 0);
    CHECK_INT(filch_socketpair(fd), 0);
    f = filch_fiber_start(drain, &fd[1]);
    while (at < n) {
        ssize_t m = filch_sendfile(fd[0], file, &from, n - at);
        CHECK(m > 0);
        at += (size_t)m;
        CHECK_INT(from, at);
    }
    CHECK_INT(filch_close(fd[0]), 0);
    CHECK_INT(filch_fiber_join(f, &got), 0);
    CHECK_INT((intptr_t)got, n);
    CHECK_INT(filch_close(fd[1]), 0);
    CHECK_INT(filch_close(file), 0);
    return NULL;
}

/* A pipe has no flag that suppresses the signal. */
static void write_without_reader(void *handler)
{
    int fd[2];

    signal(SIGPIPE, *(void (**)(int))handler);
    if (filch_pipe(fd) != 0 || filch_close(fd[0]) != 0)
        _exit(3);
    if (filch_write_all(fd[1], "x", 1) != -EPIPE)
        _exit(4);
}

static void pipes_raise_sigpipe(void **state)
{
    void (*how)(int) = SIG_DFL;
    struct child_end end;

    (void)state;
    CHECK_INT(child_end_of(&end, write_without_reader, &how), 0);
    CHECK(WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGPIPE);
    how = SIG_IGN;
    CHECK_INT(child_end_of(&end, write_without_reader, &how), 0);
    CHECK_INT(end.status, 0);
}

static void files(void)
{
    on_fiber(file_body, NULL);
    in_thread(file_body, NULL);
}

/* A write to a closed connection raises no SIGPIPE, which would end the program. */
static void *no_sigpipe_body(void *arg)
{
    struct iovec v = {(void *)"x", 1};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
    int fd[2], file = make_file(10);
    off_t from = 0;

    (void)arg;
    signal(SIGPIPE, SIG_DFL);
    CHECK_INT(filch_socketpair(fd), 0);
    CHECK_INT(filch_close(fd[1]), 0);
    CHECK_INT(filch_write(fd[0], "x", 1), -EPIPE);
    CHECK_INT(filch_write_all(fd[0], "x", 1), -EPIPE);
    CHECK_INT(filch_writev(fd[0], &v, 1), -EPIPE);
    CHECK_INT(filch_sendmsg(fd[0], &m, 0), -EPIPE);
    CHECK_INT(filch_sendfile(fd[0], file, &from, 10), -EPIPE);
    CHECK_INT(filch_close(fd[0]), 0);
    CHECK_INT(filch_close(file), 0);
    return NULL;
}

static void no_sigpipe(void)
{
    on_fiber(no_sigpipe_body, NULL);
    in_thread(no_sigpipe_body, NULL);
}

WITH_WORKERS(over_tcp)
WITH_WORKERS(over_unix)
WITH_WORKERS(over_socketpair)
WITH_WORKERS(over_pipe)
WITH_WORKERS(many_connections)
WITH_WORKERS(vectors_and_messages)
WITH_WORKERS(short_reads)
WITH_WORKERS(files)
WITH_WORKERS(no_sigpipe)

CHECK_MAIN(pipes_raise_sigpipe, test_over_tcp, test_over_unix, test_over_socketpair, test_over_pipe,
           test_many_connections, test_vectors_and_messages, test_short_reads, test_files,
           test_no_sigpipe)
