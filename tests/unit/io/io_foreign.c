/* Descriptors that Filch did not open (pipes, sockets, terminals, FIFOs, eventfds) keep their
 * file status flags.  Still, a fiber that waits for one does not block its worker.  Bytes
 * through the standard input and output that a shell shares with a program of Filch arrive
 * completely. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "io/nowait.h"
#include "unit/io/helpers.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>

/* ---- kinds of descriptors, in blocking mode ---- */

/* Bytes written to fd[1] can be read from fd[0].  Returns false if this machine has no such
 * kind. */
typedef bool make_pair(int fd[2]);

static bool make_pipe(int fd[2])
{
    return pipe(fd) == 0;
}

static bool make_sockets(int fd[2])
{
    return socketpair(AF_UNIX, SOCK_STREAM, 0, fd) == 0;
}

static bool make_fifo(int fd[2])
{
    char path[64];

    snprintf(path, sizeof path, "/tmp/filch-fifo-%ld", (long)getpid());
    if (mkfifo(path, 0600) != 0)
        return false;
    fd[0] = open(path, O_RDWR);
    fd[1] = open(path, O_WRONLY);
    unlink(path);
    return fd[0] >= 0 && fd[1] >= 0;
}

static bool make_terminal(int fd[2])
{
    int main_end = posix_openpt(O_RDWR | O_NOCTTY);
    struct termios t;
    char name[64];

    if (main_end < 0 || grantpt(main_end) != 0 || unlockpt(main_end) != 0 ||
        ptsname_r(main_end, name, sizeof name) != 0)
        return false;
    fd[0] = open(name, O_RDWR | O_NOCTTY);
    fd[1] = main_end;
    if (fd[0] < 0 || tcgetattr(fd[0], &t) != 0)
        return false;
    cfmakeraw(&t);
    return tcsetattr(fd[0], TCSANOW, &t) == 0;
}

static bool make_terminal_reversed(int fd[2])
{
    int other[2];

    if (!make_terminal(other))
        return false;
    fd[0] = other[1];
    fd[1] = other[0];
    return true;
}

static make_pair *const kinds[] = {make_pipe, make_sockets, make_fifo, make_terminal,
                                   make_terminal_reversed};
#define KINDS (sizeof kinds / sizeof kinds[0])

static int flags_of(int fd)
{
    return fcntl(fd, F_GETFL);
}

static void close_both(const int fd[2])
{
    CHECK_INT(filch_close(fd[0]), 0);
    CHECK_INT(filch_close(fd[1]), 0);
}

/* ---- waiting fibers do not block workers ---- */

static void *read_one(void *arg)
{
    char c = 0;
    ssize_t n = filch_read((int)(intptr_t)arg, &c, 1);

    return (void *)(intptr_t)(n == 1 ? c : n);
}

static void reader_does_not_block_worker(make_pair *make)
{
    int fd[2], flags;
    filch_fiber *f;
    void *got;

    if (!make(fd))
        return;
    flags = flags_of(fd[0]);
    CHECK_INT(flags & O_NONBLOCK, 0);
    f = filch_fiber_start(read_one, (void *)(intptr_t)fd[0]);
    await_waiting(fd[0], FI_IO_READ, 1);
    CHECK_INT(flags_of(fd[0]), flags);
    CHECK_INT(filch_write(fd[1], "x", 1), 1);
    CHECK_INT(filch_fiber_join(f, &got), 0);
    CHECK_INT((intptr_t)got, 'x');
    CHECK_INT(flags_of(fd[0]), flags);
    CHECK_INT(flags_of(fd[1]) & O_NONBLOCK, 0);
    close_both(fd);
}

#define MUCH                                                                                       \
    300000 /* more than the buffer of any kind; terminals take bytes one by one, and hold less */
#define MUCH_FOR_TERMINAL 80000

static size_t much(make_pair *make)
{
    return make == make_terminal || make == make_terminal_reversed ? MUCH_FOR_TERMINAL : MUCH;
}

static unsigned char byte_at(size_t i)
{
    return (unsigned char)(i * 7 + i / 256);
}

typedef struct writing {
    int fd;
    size_t bytes;
} writing;

static void *write_much(void *arg)
{
    const writing *w = arg;
    unsigned char *p = malloc(w->bytes);
    ssize_t n;

    CHECK(p != NULL);
    for (size_t i = 0; i < w->bytes; i++)
        p[i] = byte_at(i);
    n = filch_write_all(w->fd, p, w->bytes);
    free(p);
    return (void *)(intptr_t)n;
}

static void writer_does_not_block_worker(make_pair *make)
{
    unsigned char buf[1000];
    size_t at = 0;
    int fd[2];
    filch_fiber *f;
    void *wrote;
    writing w;

    if (!make(fd))
        return;
    w = (writing){fd[1], much(make)};
    f = filch_fiber_start(write_much, &w);
    await_waiting(fd[1], FI_IO_WRITE, 1);
    CHECK_INT(flags_of(fd[1]) & O_NONBLOCK, 0);
    while (at < w.bytes) {
        ssize_t n = filch_read(fd[0], buf, sizeof buf);
        CHECK(n > 0);
        for (ssize_t i = 0; i < n; i++, at++)
            CHECK_INT(buf[i], byte_at(at));
    }
    CHECK_INT(filch_fiber_join(f, &wrote), 0);
    CHECK_INT((intptr_t)wrote, w.bytes);
    CHECK_INT(flags_of(fd[1]) & O_NONBLOCK, 0);
    close_both(fd);
}

static void *each_kind_waits(void *arg)
{
    (void)arg;
    for (size_t i = 0; i < KINDS; i++) {
        reader_does_not_block_worker(kinds[i]);
        writer_does_not_block_worker(kinds[i]);
    }
    return NULL;
}

static void waits_do_not_block_workers(void)
{
    on_fiber(each_kind_waits, NULL);
    in_thread(each_kind_waits, NULL);
}

/* ---- deadlines and cancellation ---- */

/* A terminal empties its buffers in the background, so it may be writable again a moment later. */
static ssize_t fill(int fd)
{
    static char big[1 << 16];
    ssize_t n;

    while ((n = filch_write_until(fd, big, sizeof big, filch_now() + FILCH_MS(2))) > 0)
        ;
    return n;
}

static void *deadlines_body(void *arg)
{
    struct iovec v = {(char[1]){0}, 1};

    (void)arg;
    for (size_t i = 0; i < KINDS; i++) {
        int fd[2];
        char c;
        if (!kinds[i](fd))
            continue;
        CHECK_INT(filch_read_until(fd[0], &c, 1, 0), -ETIMEDOUT);
        CHECK_INT(filch_readv_until(fd[0], &v, 1, filch_now() + FILCH_MS(2)), -ETIMEDOUT);
        CHECK_INT(fill(fd[1]), -ETIMEDOUT);
        CHECK_INT(filch_read_until(fd[0], &c, 1, filch_now() + FILCH_S(60)), 1);
        CHECK_INT((flags_of(fd[0]) | flags_of(fd[1])) & O_NONBLOCK, 0);
        close_both(fd);
    }
    return NULL;
}

static void cancelled(make_pair *make)
{
    int fd[2];
    filch_fiber *f;
    void *got;

    if (!make(fd))
        return;
    f = filch_fiber_start(read_one, (void *)(intptr_t)fd[0]);
    await_waiting(fd[0], FI_IO_READ, 1);
    filch_fiber_cancel(f);
    CHECK_INT(filch_fiber_join(f, &got), 0);
    CHECK_INT((intptr_t)got, -ECANCELED);
    close_both(fd);
}

static void deadlines(void)
{
    on_fiber(deadlines_body, NULL);
    in_thread(deadlines_body, NULL);
    for (size_t i = 0; i < KINDS; i++)
        cancelled(kinds[i]);
}

/* ---- eventfd ---- */

static void *count_body(void *arg)
{
    int fd = eventfd(0, 0);
    uint64_t n = 3;

    (void)arg;
    CHECK(fd >= 0);
    CHECK_INT(filch_read_until(fd, &n, sizeof n, filch_now() + FILCH_MS(2)), -ETIMEDOUT);
    CHECK_INT(filch_write(fd, &n, sizeof n), sizeof n);
    n = 0;
    CHECK_INT(filch_read(fd, &n, sizeof n), sizeof n);
    CHECK_INT(n, 3);
    CHECK_INT(flags_of(fd) & O_NONBLOCK, 0);
    CHECK_INT(filch_close(fd), 0);
    return NULL;
}

static void eventfd_counts(void)
{
    on_fiber(count_body, NULL);
    in_thread(count_body, NULL);
}

/* ---- connections ---- */

static int listen_blocking(struct sockaddr_in *at)
{
    socklen_t n = sizeof *at;
    int s = socket(AF_INET, SOCK_STREAM, 0);

    *at = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    CHECK(s >= 0);
    CHECK_INT(bind(s, (struct sockaddr *)at, sizeof *at), 0);
    CHECK_INT(listen(s, 4), 0);
    CHECK_INT(getsockname(s, (struct sockaddr *)at, &n), 0);
    return s;
}

static void *accept_one(void *arg)
{
    return (void *)(intptr_t)filch_accept((int)(intptr_t)arg);
}

static void connect_and_accept(int64_t deadline)
{
    struct sockaddr_in at;
    int s = listen_blocking(&at), fd = socket(AF_INET, SOCK_STREAM, 0);
    filch_fiber *f;
    void *peer;
    char c = 0;

    CHECK_INT(filch_accept_until(s, filch_now() + FILCH_MS(2)), -ETIMEDOUT);
    f = filch_fiber_start(accept_one, (void *)(intptr_t)s);
    await_waiting(s, FI_IO_READ, 1);
    CHECK_INT(filch_connect_to_until(fd, (struct sockaddr *)&at, sizeof at, deadline), 0);
    CHECK_INT(filch_fiber_join(f, &peer), 0);
    CHECK((intptr_t)peer >= 0);
    CHECK_INT(filch_write_all((int)(intptr_t)peer, "x", 1), 1);
    CHECK_INT(filch_read(fd, &c, 1), 1);
    CHECK_INT((flags_of(s) | flags_of(fd)) & O_NONBLOCK, 0);
    CHECK_INT(filch_close((int)(intptr_t)peer), 0);
    CHECK_INT(filch_close(fd), 0);
    CHECK_INT(filch_close(s), 0);
}

static void *connections_body(void *arg)
{
    (void)arg;
    connect_and_accept(FILCH_FOREVER);
    connect_and_accept(filch_now() + FILCH_S(60));
    return NULL;
}

static void connections(void)
{
    on_fiber(connections_body, NULL);
    in_thread(connections_body, NULL);
}

/* Several fibers accept from one listener in blocking mode.  Those without a connection keep their
 * deadlines. */
static atomic_bool enough;

static void *accept_until_enough(void *arg)
{
    while (!enough) {
        int fd = filch_accept_until((int)(intptr_t)arg, filch_now() + FILCH_MS(5));
        CHECK(fd >= 0 || fd == -ETIMEDOUT);
        if (fd >= 0)
            CHECK_INT(filch_close(fd), 0);
    }
    return NULL;
}

static void *acceptors_body(void *arg)
{
    struct sockaddr_in at;
    int s = listen_blocking(&at);
    filch_fiber *f[4];

    (void)arg;
    enough = false;
    for (int i = 0; i < 4; i++)
        f[i] = filch_fiber_start(accept_until_enough, (void *)(intptr_t)s);
    for (int i = 0; i < 200; i++) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        CHECK_INT(filch_connect_to(fd, (struct sockaddr *)&at, sizeof at), 0);
        CHECK_INT(filch_close(fd), 0);
        CHECK_INT(filch_sleep(FILCH_US(500)), 0);
    }
    enough = true;
    for (int i = 0; i < 4; i++)
        CHECK_INT(filch_fiber_join_until(f[i], NULL, filch_now() + FILCH_S(20)), 0);
    CHECK_INT(filch_close(s), 0);
    return NULL;
}

static void *accept_and_close(void *listener)
{
    int fd = filch_accept((int)(intptr_t)listener);

    return (void *)(intptr_t)(fd < 0 ? fd : filch_close(fd));
}

/* A fiber that finds another one in accept(2) does not wait for a further connection. */
static void *accept_one_each(void *arg)
{
    enum { ROUNDS = 100, FIBERS = 4 };
    struct sockaddr_in at;
    int s = listen_blocking(&at);

    (void)arg;
    for (int round = 0; round < ROUNDS; round++) {
        filch_fiber *f[FIBERS];
        void *e;
        int fd[FIBERS];
        for (int i = 0; i < FIBERS; i++)
            f[i] = filch_fiber_start(accept_and_close, (void *)(intptr_t)s);
        for (int i = 0; i < FIBERS; i++) {
            fd[i] = socket(AF_INET, SOCK_STREAM, 0);
            CHECK_INT(filch_connect_to(fd[i], (struct sockaddr *)&at, sizeof at), 0);
        }
        for (int i = 0; i < FIBERS; i++) {
            CHECK_INT(filch_fiber_join(f[i], &e), 0);
            CHECK_INT((intptr_t)e, 0);
            CHECK_INT(filch_close(fd[i]), 0);
        }
    }
    CHECK_INT(filch_close(s), 0);
    return NULL;
}

static void acceptors(void)
{
    on_fiber(accept_one_each, NULL);
    on_fiber(acceptors_body, NULL);
    in_thread(acceptors_body, NULL);
}

/* A thread that finds the turn taken gets the next turn, and reads what the first thread left. */
static atomic_int asking; /* id of the thread that waits for the turn; 0: not yet */
static atomic_bool answered;

static void *ask_for_turn(void *fd)
{
    fi_nowait_turn t;
    bool got;

    asking = (int)syscall(SYS_gettid);
    got = fi_nowait_begin_turn(&t, *(int *)fd, POLLIN);
    answered = true;
    if (got)
        fi_nowait_end_turn(&t);
    return (void *)(intptr_t)got;
}

static bool is_asleep(int tid)
{
    char path[64], text[256] = "";
    const char *name_end;
    FILE *f;

    snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
    f = fopen(path, "r");
    if (f) {
        (void)!fread(text, 1, sizeof text - 1, f);
        fclose(f);
    }
    name_end = strrchr(text, ')');
    return name_end && name_end[1] == ' ' && name_end[2] == 'S';
}

static void test_turns(void **state)
{
    fi_nowait_turn t;
    pthread_t thread;
    void *got;
    int fd[2];

    (void)state;
    CHECK_INT(pipe(fd), 0);
    CHECK_INT(write(fd[1], "x", 1), 1);
    CHECK(fi_nowait_begin_turn(&t, fd[0], POLLIN));
    CHECK_INT(pthread_create(&thread, NULL, ask_for_turn, &fd[0]), 0);
    while (!answered && (!asking || !is_asleep(asking)))
        sched_yield();
    fi_nowait_end_turn(&t);
    CHECK_INT(pthread_join(thread, &got), 0);
    CHECK(got != NULL);
    close(fd[0]);
    close(fd[1]);
}

/* ---- sendfile ---- */

static int make_file(void)
{
    char path[] = "/tmp/filch-foreign-XXXXXX";
    int fd = mkstemp(path);

    CHECK(fd >= 0);
    unlink(path);
    CHECK_INT((intptr_t)write_much(&(writing){fd, MUCH}), MUCH);
    CHECK_INT(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

typedef struct sending {
    int out, file;
    bool by_offset;
} sending;

static void *send_all(void *arg)
{
    const sending *s = arg;
    off_t offset = 0;
    ssize_t done = 0, n;

    while ((n = filch_sendfile(s->out, s->file, s->by_offset ? &offset : NULL,
                               (size_t)(MUCH - done))) > 0)
        done += n;
    CHECK(!s->by_offset || offset == done);
    return (void *)(intptr_t)(n < 0 ? n : done);
}

static void send_to(make_pair *make, bool by_offset)
{
    unsigned char buf[1000];
    sending s = {-1, make_file(), by_offset};
    size_t at = 0;
    int fd[2];
    filch_fiber *f;
    void *sent;

    CHECK(make(fd));
    s.out = fd[1];
    f = filch_fiber_start(send_all, &s);
    await_waiting(fd[1], FI_IO_WRITE, 1);
    while (at < MUCH) {
        ssize_t n = filch_read(fd[0], buf, sizeof buf);
        CHECK(n > 0);
        for (ssize_t i = 0; i < n; i++, at++)
            CHECK_INT(buf[i], byte_at(at));
    }
    CHECK_INT(filch_fiber_join(f, &sent), 0);
    CHECK_INT((intptr_t)sent, MUCH);
    CHECK_INT(flags_of(fd[1]) & O_NONBLOCK, 0);
    CHECK_INT(filch_close(s.file), 0);
    close_both(fd);
}

static void *files_body(void *arg)
{
    (void)arg;
    send_to(make_pipe, true);
    send_to(make_sockets, false);
    return NULL;
}

static void files(void)
{
    on_fiber(files_body, NULL);
    in_thread(files_body, NULL);
}

/* ---- a shell and its program ---- */

#define COPIED 3000000

static atomic_bool copied;

/* The other fiber of the program. */
static void *tick(void *arg)
{
    (void)arg;
    while (!atomic_load(&copied))
        filch_sleep(FILCH_MS(1));
    return NULL;
}

static void *copy(void *arg)
{
    char buf[65536];
    size_t left = COPIED;

    (void)arg;
    while (left > 0) {
        ssize_t n = filch_read(STDIN_FILENO, buf, left < sizeof buf ? left : sizeof buf);
        if (n <= 0 || filch_write_all(STDOUT_FILENO, buf, (size_t)n) != n)
            _exit(2);
        left -= (size_t)n;
    }
    atomic_store(&copied, true);
    return NULL;
}

static int program_main(void)
{
    filch_fiber *f[2];

    f[0] = filch_fiber_start(tick, NULL);
    f[1] = filch_fiber_start(copy, NULL);
    for (int i = 0; i < 2; i++)
        CHECK_INT(filch_fiber_join(f[i], NULL), 0);
    return filch_stop() < 0;
}

typedef struct feed {
    int fd;
} feed;

static void *feed_all(void *arg)
{
    const feed *f = arg;
    unsigned char buf[5000];

    for (size_t at = 0; at < COPIED;) {
        size_t n = COPIED - at < sizeof buf ? COPIED - at : sizeof buf, done = 0;
        for (size_t i = 0; i < n; i++)
            buf[i] = byte_at(at + i);
        while (done < n) {
            ssize_t m = write(f->fd, buf + done, n - done);
            CHECK(m > 0);
            done += (size_t)m;
        }
        at += n;
    }
    return NULL;
}

/* Reads slowly, and checks the flags meanwhile. */
static void read_all_slowly(int fd, const int shared[2], const int flags[2])
{
    unsigned char buf[3000];
    size_t at = 0;

    while (at < COPIED) {
        ssize_t n = read(fd, buf, sizeof buf);
        CHECK(n > 0);
        for (ssize_t i = 0; i < n; i++, at++)
            CHECK_INT(buf[i], byte_at(at));
        for (int i = 0; i < 2; i++)
            CHECK_INT(flags_of(shared[i]), flags[i]);
        sched_yield();
    }
}

/* in[0] and out[1] are the standard input and output of the shell and of its program. */
static void run_program(make_pair *make_in, make_pair *make_out)
{
    char *const argv[] = {(char *)"io_foreign", (char *)"program", NULL};
    int in[2], out[2], shared[2], flags[2], status;
    pthread_t feeder;
    pid_t child;
    feed f;

    if (!make_in(in) || !make_out(out))
        return;
    shared[0] = in[0];
    shared[1] = out[1];
    for (int i = 0; i < 2; i++)
        flags[i] = flags_of(shared[i]);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        execv("/proc/self/exe", argv);
        _exit(1);
    }
    f.fd = in[1];
    CHECK_INT(pthread_create(&feeder, NULL, feed_all, &f), 0);
    read_all_slowly(out[0], shared, flags);
    pthread_join(feeder, NULL);
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), 0);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(flags_of(shared[i]), flags[i]);
        close(in[i]);
        close(out[i]);
    }
}

static void test_shell(void **state)
{
    (void)state;
#ifdef FILCH_EMULATED
    puts("skipped: a program cannot execute itself under an emulator");
    return;
#endif
    run_program(make_pipe, make_pipe);
    run_program(make_sockets, make_sockets);
    run_program(make_fifo, make_fifo);
    run_program(make_terminal, make_terminal_reversed);
}

WITH_WORKERS(waits_do_not_block_workers)
WITH_WORKERS(deadlines)
WITH_WORKERS(eventfd_counts)
WITH_WORKERS(connections)
WITH_WORKERS(acceptors)
WITH_WORKERS(files)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {CHECK_EACH(test_waits_do_not_block_workers, test_deadlines,
                                                  test_eventfd_counts, test_connections, test_turns,
                                                  test_acceptors, test_files, test_shell)};

    if (argc > 1 && strcmp(argv[1], "program") == 0)
        return program_main();
    return CHECK_RUN(tests);
}
