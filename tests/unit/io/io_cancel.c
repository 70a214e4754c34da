/* The table of filch-cancel(7): waits for files, sockets, processes and signals.
 * tests/unit/job/job_waits.c has the others. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT, pipe2 */
#endif
#include "refuse.h"
#include "unit/job/cancel_rows.h"

#include <filch/io.h>

#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- a gate at which system calls on other threads block ---- */

static int gate[2]; /* open while the pipe has a byte */
static atomic_int n_at_gate;

static void pass_gate(void)
{
    struct pollfd p = {.fd = gate[0], .events = POLLIN};

    atomic_fetch_add(&n_at_gate, 1);
    while (poll(&p, 1, -1) < 1)
        continue;
    atomic_fetch_sub(&n_at_gate, 1);
}

static void await_at_gate(void)
{
    while (atomic_load(&n_at_gate) == 0)
        filch_yield();
}

static void close_gate(void)
{
    char byte;

    while (read(gate[0], &byte, 1) == 1)
        continue;
}

static void open_gate(void)
{
    if (write(gate[1], "x", 1) != 1)
        abort();
}

/* Both replace a function of the C library. */
int getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
                struct addrinfo **answer)
{
    int (*next)(const char *, const char *, const struct addrinfo *, struct addrinfo **);

    if (host && strcmp(host, "slow.test") == 0) {
        if (hints->ai_flags & AI_NUMERICHOST)
            return EAI_NONAME;
        pass_gate();
        return EAI_AGAIN;
    }
    *(void **)(void *)&next = dlsym(RTLD_NEXT, "getaddrinfo");
    return next(host, port, hints, answer);
}

int fsync(int fd)
{
    (void)fd;
    pass_gate();
    return 0;
}

/* ---- descriptors ---- */

enum { EMPTY, FULL }; /* of a pair: the end that has no data, and the end that takes none */

static int file, closed_file, pipes[2], sockets[2], udp, listener, busy_listener, busy_fds[8],
    n_busy;
static char directory[] = "/tmp/filch-io-cancel-XXXXXX", fifo[64], path[64], busy_path[64];
static struct sockaddr_un busy_address;
static pid_t child;
static sigset_t signals;

static char buf[64];
static struct iovec iov = {buf, sizeof buf};
static struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};
static struct addrinfo *addresses;

/* Write until there is no capacity. */
static void fill(int fd)
{
    static const char zeros[4096];

    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    for (size_t size = sizeof zeros; size > 0; size /= 2)
        while (write(fd, zeros, size) > 0)
            continue;
}

/* Two pipes: one is empty, and one is full. */
static void make_pipes(void)
{
    int empty[2], full[2];

    CHECK_INT(filch_pipe(empty), 0);
    CHECK_INT(filch_pipe(full), 0);
    fill(full[1]);
    pipes[EMPTY] = empty[0];
    pipes[FULL] = full[1];
    busy_fds[n_busy++] = empty[1];
    busy_fds[n_busy++] = full[0];
}

/* A pair of sockets: the first can neither send nor receive. */
static void make_sockets(void)
{
    CHECK_INT(filch_socketpair(sockets), 0);
    fill(sockets[0]);
    udp = filch_udp_bind("127.0.0.1", 0, 0);
    listener = filch_listen("127.0.0.1", 0, 4);
    CHECK(udp >= 0 && listener >= 0);
}

/* A UNIX socket whose backlog is full. */
static void make_busy_listener(void)
{
    int fd;

    busy_address.sun_family = AF_UNIX;
    memcpy(busy_address.sun_path, busy_path, sizeof busy_path);
    busy_listener = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK_INT(bind(busy_listener, (struct sockaddr *)&busy_address, sizeof busy_address), 0);
    CHECK_INT(listen(busy_listener, 0), 0);
    do {
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
        busy_fds[n_busy++] = fd;
    } while (connect(fd, (struct sockaddr *)&busy_address, sizeof busy_address) == 0 && n_busy < 8);
    CHECK_INT(errno, EAGAIN);
}

static void make_child(void)
{
    child = fork();
    CHECK(child >= 0);
    if (child == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (child == 0)
        pause();
}

static void begin(void)
{
    snprintf(directory, sizeof directory, "/tmp/filch-io-cancel-XXXXXX");
    CHECK(mkdtemp(directory) != NULL);
    snprintf(fifo, sizeof fifo, "%s/fifo", directory);
    snprintf(path, sizeof path, "%s/file", directory);
    snprintf(busy_path, sizeof busy_path, "%s/socket", directory);
    CHECK_INT(mkfifo(fifo, 0600), 0);
    n_busy = 0;
    file = filch_open(path, O_RDWR | O_CREAT, 0600);
    CHECK_INT(filch_pwrite(file, "x", 1, 0), 1);
    make_pipes();
    make_sockets();
    make_busy_listener();
    make_child();
}

static void end(void)
{
    kill(child, SIGKILL);
    CHECK_INT(waitpid(child, NULL, 0), child);
    for (int i = 0; i < n_busy; i++)
        filch_close(busy_fds[i]);
    for (int i = 0; i < 2; i++) {
        filch_close(pipes[i]);
        filch_close(sockets[i]);
    }
    filch_close(file);
    filch_close(udp);
    filch_close(listener);
    filch_close(busy_listener);
    unlink(fifo);
    unlink(path);
    unlink(busy_path);
    CHECK_INT(rmdir(directory), 0);
}

/* ---- waits that return -ECANCELED ---- */

WAIT(read_1, filch_read(pipes[EMPTY], buf, 1))
WAIT(read_until, filch_read_until(pipes[EMPTY], buf, 1, LATE))
WAIT(write_1, filch_write(pipes[FULL], buf, 1))
WAIT(write_until, filch_write_until(pipes[FULL], buf, 1, LATE))
WAIT(readv_1, filch_readv(pipes[EMPTY], &iov, 1))
WAIT(readv_until, filch_readv_until(pipes[EMPTY], &iov, 1, LATE))
WAIT(writev_1, filch_writev(pipes[FULL], &iov, 1))
WAIT(writev_until, filch_writev_until(pipes[FULL], &iov, 1, LATE))
WAIT(sendfile_1, filch_sendfile(sockets[0], file, &(off_t){0}, 1))
WAIT(sendfile_until, filch_sendfile_until(sockets[0], file, &(off_t){0}, 1, LATE))
WAIT(read_all, filch_read_all(pipes[EMPTY], buf, 2))
WAIT(read_all_until, filch_read_all_until(pipes[EMPTY], buf, 2, LATE))
WAIT(write_all, filch_write_all(pipes[FULL], buf, 2))
WAIT(write_all_until, filch_write_all_until(pipes[FULL], buf, 2, LATE))
WAIT(recv_1, filch_recv(sockets[0], buf, 1, 0))
WAIT(recv_until, filch_recv_until(sockets[0], buf, 1, 0, LATE))
WAIT(send_1, filch_send(sockets[0], buf, 1, 0))
WAIT(send_until, filch_send_until(sockets[0], buf, 1, 0, LATE))
WAIT(recvfrom_1, filch_recvfrom(udp, buf, 1, 0, NULL, NULL))
WAIT(recvfrom_until, filch_recvfrom_until(udp, buf, 1, 0, NULL, NULL, LATE))
WAIT(sendto_1, filch_sendto(sockets[0], buf, 1, 0, NULL, 0))
WAIT(sendto_until, filch_sendto_until(sockets[0], buf, 1, 0, NULL, 0, LATE))
WAIT(recvmsg_1, filch_recvmsg(udp, &message, 0))
WAIT(recvmsg_until, filch_recvmsg_until(udp, &message, 0, LATE))
WAIT(sendmsg_1, filch_sendmsg(sockets[0], &message, 0))
WAIT(sendmsg_until, filch_sendmsg_until(sockets[0], &message, 0, LATE))
WAIT(accept_1, filch_accept(listener))
WAIT(accept_until, filch_accept_until(listener, LATE))
WAIT(accept_from, filch_accept_from(listener, NULL, NULL))
WAIT(accept_from_until, filch_accept_from_until(listener, NULL, NULL, LATE))
WAIT(connect_1, filch_connect(busy_path, 0))
WAIT(connect_until, filch_connect_until(busy_path, 0, LATE))
WAIT(connect_name, filch_connect("slow.test", 1))
WAIT(udp_connect, filch_udp_connect("slow.test", 1))
WAIT(udp_connect_until, filch_udp_connect_until("slow.test", 1, LATE))
WAIT(udp_bind, filch_udp_bind("slow.test", 0, 0))
WAIT(listen_1, filch_listen("slow.test", 0, 1))
WAIT(listen_flags, filch_listen_flags("slow.test", 0, 1, 0))
WAIT(look_up, filch_getaddrinfo("slow.test", NULL, NULL, &addresses))
WAIT(look_up_until, filch_getaddrinfo_until("slow.test", NULL, NULL, &addresses, LATE))
WAIT(wait_readable, filch_wait_fd(pipes[EMPTY], FILCH_READABLE))
WAIT(wait_both_until, filch_wait_fd_until(sockets[0], FILCH_READABLE | FILCH_WRITABLE, LATE))
WAIT(wait_signal, filch_signal_wait(&signals, FILCH_FOREVER))
WAIT(wait_child, filch_waitpid(child, NULL, 0))
WAIT(wait_stopped_child, filch_waitpid(child, NULL, WUNTRACED))
WAIT(wait_child_until, filch_waitpid_until(child, NULL, 0, LATE))
WAIT(open_fifo_reader, filch_open(fifo, O_RDONLY, 0))
WAIT(open_fifo_writer, filch_openat(AT_FDCWD, fifo, O_WRONLY, 0))

static int connect_to_deadline(int64_t deadline)
{
    const struct sockaddr *address = (struct sockaddr *)&busy_address;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    int e = deadline == FILCH_FOREVER
                ? filch_connect_to(fd, address, sizeof busy_address)
                : filch_connect_to_until(fd, address, sizeof busy_address, deadline);

    filch_close(fd);
    return e;
}

WAIT(connect_to, connect_to_deadline(FILCH_FOREVER))
WAIT(connect_to_until, connect_to_deadline(LATE))

static const row interrupted[] = {
    {"filch_read", read_1, true, 0, 0},
    {"filch_read_until", read_until, true, 0, 0},
    {"filch_write", write_1, true, 0, 0},
    {"filch_write_until", write_until, true, 0, 0},
    {"filch_readv", readv_1, true, 0, 0},
    {"filch_readv_until", readv_until, true, 0, 0},
    {"filch_writev", writev_1, true, 0, 0},
    {"filch_writev_until", writev_until, true, 0, 0},
    {"filch_sendfile", sendfile_1, true, 0, 0},
    {"filch_sendfile_until", sendfile_until, true, 0, 0},
    {"filch_read_all", read_all, true, 0, 0},
    {"filch_read_all_until", read_all_until, true, 0, 0},
    {"filch_write_all", write_all, true, 0, 0},
    {"filch_write_all_until", write_all_until, true, 0, 0},
    {"filch_recv", recv_1, true, 0, 0},
    {"filch_recv_until", recv_until, true, 0, 0},
    {"filch_send", send_1, true, 0, 0},
    {"filch_send_until", send_until, true, 0, 0},
    {"filch_recvfrom", recvfrom_1, true, 0, 0},
    {"filch_recvfrom_until", recvfrom_until, true, 0, 0},
    {"filch_sendto", sendto_1, true, 0, 0},
    {"filch_sendto_until", sendto_until, true, 0, 0},
    {"filch_recvmsg", recvmsg_1, true, 0, 0},
    {"filch_recvmsg_until", recvmsg_until, true, 0, 0},
    {"filch_sendmsg", sendmsg_1, true, 0, 0},
    {"filch_sendmsg_until", sendmsg_until, true, 0, 0},
    {"filch_accept", accept_1, true, 0, 0},
    {"filch_accept_until", accept_until, true, 0, 0},
    {"filch_accept_from", accept_from, true, 0, 0},
    {"filch_accept_from_until", accept_from_until, true, 0, 0},
    {"filch_connect", connect_1, true, 0, 0},
    {"filch_connect", connect_name, true, close_gate, open_gate},
    {"filch_connect_until", connect_until, true, 0, 0},
    {"filch_connect_to", connect_to, true, 0, 0},
    {"filch_connect_to_until", connect_to_until, true, 0, 0},
    {"filch_udp_connect", udp_connect, true, close_gate, open_gate},
    {"filch_udp_connect_until", udp_connect_until, true, close_gate, open_gate},
    {"filch_udp_bind", udp_bind, true, close_gate, open_gate},
    {"filch_listen", listen_1, true, close_gate, open_gate},
    {"filch_listen_flags", listen_flags, true, close_gate, open_gate},
    {"filch_getaddrinfo", look_up, true, close_gate, open_gate},
    {"filch_getaddrinfo_until", look_up_until, true, close_gate, open_gate},
    {"filch_wait_fd", wait_readable, true, 0, 0},
    {"filch_wait_fd_until", wait_both_until, true, 0, 0},
    {"filch_signal_wait", wait_signal, true, 0, 0},
    {"filch_waitpid", wait_child, true, 0, 0},
    {"filch_waitpid", wait_stopped_child, true, 0, 0},
    {"filch_waitpid_until", wait_child_until, true, 0, 0},
    {"filch_open of a FIFO", open_fifo_reader, true, 0, 0},
    {"filch_openat of a FIFO", open_fifo_writer, true, 0, 0},
};

/* ---- waits that are not interrupted ---- */

static int64_t pass_gate_in_call(void *result)
{
    pass_gate();
    return (intptr_t)result;
}

static int run_blocking(void)
{
    return (int)filch_run_blocking(pass_gate_in_call, (void *)0);
}

/* The only blocking thread runs a call, so that other calls wait in the queue. */
static void occupy_thread(void *arg)
{
    filch_run_blocking(pass_gate_in_call, arg);
}

static void hold_thread(void)
{
    close_gate();
    filch_go(occupy_thread, NULL);
    await_at_gate();
}

static int open_file(void)
{
    int fd = filch_open(path, O_RDONLY, 0);

    return fd < 0 ? fd : filch_close(fd);
}

static int stat_file(void)
{
    struct stat st;
    int e = filch_stat(path, &st);

    return e < 0 ? e : st.st_size == 1 ? 0 : -EIO;
}

static int fstat_file(void)
{
    struct stat st;
    int e = filch_fstat(file, &st);

    return e < 0 ? e : st.st_size == 1 ? 0 : -EIO;
}

WAIT(pread_file, filch_pread(file, buf, 1, 0) - 1)
WAIT(pwrite_file, filch_pwrite(file, "x", 1, 0) - 1)
WAIT(fsync_file, filch_fsync(file))

/* A blocking thread makes a call on the file, which filch_close waits for. */
static void sync_closed_file(void *arg)
{
    (void)arg;
    filch_fsync(closed_file);
}

static void hold_closed_file(void)
{
    closed_file = filch_open(path, O_RDONLY, 0);
    close_gate();
    filch_go(sync_closed_file, NULL);
    await_at_gate();
}

static int close_file(void)
{
    int e = filch_close(closed_file);

    return atomic_load(&n_at_gate) > 0 ? -EBUSY : e;
}

static const row uninterrupted[] = {
    {"filch_run_blocking", run_blocking, false, close_gate, open_gate},
    {"filch_open", open_file, false, hold_thread, open_gate},
    {"filch_pwrite", pwrite_file, false, hold_thread, open_gate},
    {"filch_fsync", fsync_file, false, hold_thread, open_gate},
    {"filch_stat", stat_file, false, hold_thread, open_gate},
    {"filch_fstat", fstat_file, false, hold_thread, open_gate},
    {"filch_close", close_file, false, hold_closed_file, open_gate},
};

static const row pread_row = {"filch_pread", pread_file, false, hold_thread, open_gate};

/* ---- */

#define CHECK_ROWS(rows) (void *)rows_check(rows, sizeof(rows) / sizeof((rows)[0]))

static void *check_interrupted(void *arg)
{
    (void)arg;
    return CHECK_ROWS(interrupted);
}

static void *check_uninterrupted(void *arg)
{
    (void)arg;
    return CHECK_ROWS(uninterrupted);
}

static void *check_pread(void *arg)
{
    (void)arg;
    return (void *)(intptr_t)row_check(&pread_row);
}

static void run_rows(void *(*check)(void *arg))
{
    void *wrong = (void *)1;

    begin();
    filch_fiber_join(filch_fiber_start(check, NULL), &wrong);
    CHECK_INT((intptr_t)wrong, 0);
    end();
}

static void interrupted_waits(void)
{
    run_rows(check_interrupted);
}

static void uninterrupted_waits(void)
{
    run_rows(check_uninterrupted);
}

static void pread_on_thread(void)
{
    run_rows(check_pread);
}

WITH_WORKERS(interrupted_waits)

static const filch_config one_thread = {.blocking_threads = 1};

static void test_uninterrupted_waits(void **state)
{
    (void)state;
    workers_each(&one_thread, uninterrupted_waits);
}

/* Without these calls a blocking thread reads.  io_files has reads by io_uring in a cancelled
 * fiber. */
static void test_pread_on_thread(void **state)
{
    (void)state;
    if (!refuse_call(SYS_preadv2, ENOSYS) || !refuse_call(SYS_io_uring_setup, ENOSYS)) {
        puts("skipped: the kernel does not support seccomp filters");
        return;
    }
    workers_each(&one_thread, pread_on_thread);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_EACH(test_interrupted_waits, test_uninterrupted_waits, test_pread_on_thread)};

    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &signals, NULL); /* before the runtime starts */
    if (pipe2(gate, O_NONBLOCK | O_CLOEXEC) < 0)
        return 1;
    open_gate(); /* filch_stop waits for lookups that nothing waits for any more */
    return CHECK_RUN(tests);
}
