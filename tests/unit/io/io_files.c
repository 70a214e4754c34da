/* Regular files and FIFOs: reads from memory and from the disk, with and without io_uring, the end
 * of the file, closing during calls, and opening a FIFO. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "refuse.h"
#include "unit/io/helpers.h"

#include "io/ring.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define SIZE   200000 /* not a multiple of a page */
#define BLOCK  4096
#define FIBERS 32

static char path[64], fifo[64];

static unsigned char byte_at(size_t i)
{
    return (unsigned char)(i * 7 + i / 256);
}

/* Calls may transfer a part in chaos builds. */
static ssize_t pread_all(int fd, void *buf, size_t n, off_t offset)
{
    size_t done = 0;
    ssize_t m = 1;

    while (done < n && m > 0) {
        m = filch_pread(fd, (char *)buf + done, n - done, offset + (off_t)done);
        if (m < 0)
            return m;
        done += (size_t)m;
    }
    return (ssize_t)done;
}

static void check_bytes(const unsigned char *p, size_t n, size_t at)
{
    for (size_t i = 0; i < n; i++)
        CHECK_INT(p[i], byte_at(at + i));
}

static void write_file(int fd)
{
    unsigned char *p = malloc(SIZE);

    CHECK(p != NULL);
    for (size_t i = 0; i < SIZE; i++)
        p[i] = byte_at(i);
    for (size_t done = 0; done < SIZE;) {
        ssize_t n = filch_pwrite(fd, p + done, SIZE - done, (off_t)done);
        CHECK(n > 0);
        done += (size_t)n;
    }
    free(p);
}

/* Remove the file from the memory of the kernel. */
static void drop_cache(int fd)
{
    CHECK_INT(filch_fsync(fd), 0);
    CHECK_INT(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
}

/* ---- calls ---- */

static void read_everywhere(int fd)
{
    static const size_t offsets[] = {0, 1, BLOCK - 1, (size_t)5 * BLOCK, SIZE - BLOCK, SIZE - 1};
    unsigned char buf[BLOCK];

    for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
        size_t n = SIZE - offsets[i] < BLOCK ? SIZE - offsets[i] : BLOCK;
        CHECK_INT(pread_all(fd, buf, BLOCK, (off_t)offsets[i]), n);
        check_bytes(buf, n, offsets[i]);
    }
    CHECK_INT(filch_pread(fd, buf, BLOCK, SIZE), 0);
    CHECK_INT(filch_pread(fd, buf, BLOCK, SIZE + 12345), 0);
    CHECK_INT(filch_pread(fd, buf, 0, 0), 0);
}

/* A large read whose pages are partly in memory. */
static void read_partly_cached(int fd)
{
    unsigned char *p = malloc(SIZE + BLOCK);

    CHECK(p != NULL);
    drop_cache(fd);
    CHECK_INT(pread_all(fd, p, BLOCK, (off_t)3 * BLOCK), BLOCK);
    CHECK_INT(pread_all(fd, p, SIZE + BLOCK, 0), SIZE);
    check_bytes(p, SIZE, 0);
    free(p);
}

static void read_position(int fd)
{
    unsigned char *p = malloc(SIZE + BLOCK);

    CHECK(p != NULL);
    CHECK_INT(lseek(fd, 10, SEEK_SET), 10);
    drop_cache(fd);
    CHECK_INT(filch_read_all(fd, p, SIZE + BLOCK), SIZE - 10);
    check_bytes(p, SIZE - 10, 10);
    CHECK_INT(filch_read(fd, p, 1), 0);
    free(p);
}

static void *calls_body(void *arg)
{
    int fd = filch_open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    struct stat st;

    (void)arg;
    CHECK(fd >= 0);
    CHECK_INT(fcntl(fd, F_GETFD), FD_CLOEXEC);
    write_file(fd);
    CHECK_INT(filch_stat(path, &st), 0);
    CHECK_INT(st.st_size, SIZE);
    CHECK_INT(st.st_mode & 0777, 0600);
    CHECK_INT(filch_fstat(fd, &st), 0);
    CHECK_INT(st.st_size, SIZE);
    read_everywhere(fd);
    drop_cache(fd);
    read_everywhere(fd);
    read_partly_cached(fd);
    read_position(fd);
    CHECK_INT(filch_close(fd), 0);
    return NULL;
}

static void *errors_body(void *arg)
{
    struct stat st;
    int fd, pipes[2];
    char c = 0;

    (void)arg;
    CHECK_INT(filch_open("/tmp/filch-no-such-file", O_RDONLY, 0), -ENOENT);
    CHECK_INT(filch_stat("/tmp/filch-no-such-file", &st), -ENOENT);
    CHECK_INT(filch_pread(-1, &c, 1, 0), -EBADF);
    CHECK_INT(filch_fsync(-1), -EBADF);
    CHECK_INT(filch_fstat(-1, &st), -EBADF);
    CHECK_INT(filch_pread(0, &c, 1, -1), -EINVAL);
    CHECK_INT(filch_pwrite(0, &c, 1, -1), -EINVAL);
    CHECK_INT(filch_pipe(pipes), 0);
    CHECK_INT(filch_pread(pipes[0], &c, 1, 0), -ESPIPE);
    CHECK_INT(filch_pwrite(pipes[1], &c, 1, 0), -ESPIPE);
    CHECK_INT(filch_fsync(pipes[0]), -EINVAL);
    CHECK_INT(filch_fstat(pipes[0], &st), 0);
    CHECK(S_ISFIFO(st.st_mode));
    CHECK_INT(filch_close(pipes[0]), 0);
    CHECK_INT(filch_close(pipes[1]), 0);
    fd = filch_open("/tmp", O_RDONLY | O_DIRECTORY, 0);
    CHECK(fd >= 0);
    CHECK_INT(filch_pread(fd, &c, 1, 0), -EISDIR);
    CHECK_INT(filch_openat(fd, "filch-no-such-file", O_RDONLY, 0), -ENOENT);
    CHECK_INT(filch_close(fd), 0);
    fd = filch_open(path, O_WRONLY | O_CREAT, 0600);
    CHECK_INT(filch_pread(fd, &c, 1, 0), -EBADF);
    CHECK_INT(filch_close(fd), 0);
    fd = filch_open("/dev/zero", O_RDONLY, 0);
    CHECK_INT(filch_read(fd, &c, 1), 1);
    CHECK_INT(filch_close(fd), 0);
    return NULL;
}

static void calls(void)
{
    on_fiber(calls_body, NULL);
    in_thread(calls_body, NULL);
    on_fiber(errors_body, NULL);
    in_thread(errors_body, NULL);
    unlink(path);
}

/* ---- many reads at once ---- */

static int shared_file;
static atomic_int n_readers; /* that were started by read_and_count */

static void *read_blocks(void *arg)
{
    size_t at = (size_t)(uintptr_t)arg * BLOCK;
    unsigned char buf[BLOCK];

    for (; at + BLOCK <= SIZE; at += (size_t)FIBERS / 4 * BLOCK) {
        CHECK_INT(pread_all(shared_file, buf, BLOCK, (off_t)at), BLOCK);
        check_bytes(buf, BLOCK, at);
    }
    return NULL;
}

static void start_readers(void)
{
    filch_fiber *f[FIBERS];

    for (size_t i = 0; i < FIBERS; i++)
        f[i] = filch_fiber_start(read_blocks, (void *)(uintptr_t)(i / 4));
    for (size_t i = 0; i < FIBERS; i++)
        CHECK_INT(filch_fiber_join(f[i], NULL), 0);
}

/* By filch_open, by open(2), and with O_DIRECT where the file system supports it. */
static void *many_body(void *arg)
{
    int fd = filch_open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

    (void)arg;
    write_file(fd);
    shared_file = fd;
    for (int i = 0; i < 3; i++) {
        drop_cache(fd);
        start_readers();
    }
    shared_file = open(path, O_RDONLY | O_CLOEXEC);
    drop_cache(fd);
    start_readers();
    CHECK_INT(filch_close(shared_file), 0);
    CHECK_INT(filch_close(fd), 0);
    return NULL;
}

static void many(void)
{
    on_fiber(many_body, NULL);
    unlink(path);
}

static void read_and_count(void *arg)
{
    read_blocks(arg);
    atomic_fetch_sub(&n_readers, 1);
}

/* The kernel cancels the requests of a thread that ends.  Threads run tasks, and fibers on their
 * workers, and end while the fibers read. */
FILCH_VOID_TASK(start_reads, int, n)
{
    for (int i = 0; i < n; i++) {
        atomic_fetch_add(&n_readers, 1);
        CHECK_INT(filch_go(read_and_count, (void *)(intptr_t)i), 0);
    }
    filch_yield();
}

static void *run_and_end(void *arg)
{
    FILCH_RUN(start_reads, 4);
    return arg;
}

static void submitters_end(void)
{
    shared_file = filch_open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    write_file(shared_file);
    for (int i = 0; i < 10; i++) {
        drop_cache(shared_file);
        in_thread(run_and_end, NULL);
    }
    while (atomic_load(&n_readers) > 0)
        sched_yield();
    CHECK_INT(filch_close(shared_file), 0);
    unlink(path);
}

static void *direct_body(void *arg)
{
    int fd = filch_open(path, O_RDWR | O_CREAT | O_TRUNC, 0600), direct;
    void *buf = NULL;

    (void)arg;
    write_file(fd);
    CHECK_INT(filch_fsync(fd), 0);
    direct = filch_open(path, O_RDONLY | O_DIRECT, 0);
    if (direct >= 0) {
        CHECK_INT(posix_memalign(&buf, BLOCK, (size_t)2 * BLOCK), 0);
        CHECK_INT(filch_pread(direct, buf, BLOCK, BLOCK) > 0, 1);
        check_bytes(buf, 512, BLOCK);
        CHECK_INT(filch_pread(direct, (char *)buf + 1, 1, 1) < 2, 1); /* not aligned: may fail */
        CHECK_INT(filch_close(direct), 0);
        free(buf);
    }
    CHECK_INT(filch_close(fd), 0);
    return NULL;
}

static void direct(void)
{
    on_fiber(direct_body, NULL);
    in_thread(direct_body, NULL);
    unlink(path);
}

/* filch_close waits for calls that have begun.  Later calls find another file, or none. */
static void *read_until_closed(void *arg)
{
    unsigned char buf[BLOCK];
    ssize_t n;

    for (size_t i = (size_t)(uintptr_t)arg;; i++) {
        size_t at = i * BLOCK % (SIZE - BLOCK);
        n = filch_pread(shared_file, buf, 64, (off_t)at);
        if (n < 0)
            return (void *)n;
        check_bytes(buf, (size_t)n, at);
        posix_fadvise(shared_file, 0, 0, POSIX_FADV_DONTNEED);
    }
}

static void *close_body(void *arg)
{
    filch_fiber *f[8];
    void *e;

    (void)arg;
    shared_file = filch_open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    write_file(shared_file);
    drop_cache(shared_file);
    for (size_t i = 0; i < 8; i++)
        f[i] = filch_fiber_start(read_until_closed, (void *)(uintptr_t)i);
    CHECK_INT(filch_sleep(FILCH_MS(2)), 0);
    CHECK_INT(filch_close(shared_file), 0);
    for (size_t i = 0; i < 8; i++) {
        CHECK_INT(filch_fiber_join(f[i], &e), 0);
        CHECK((intptr_t)e == -EBADF || (intptr_t)e == -ECANCELED);
    }
    return NULL;
}

static void closed(void)
{
    on_fiber(close_body, NULL);
    unlink(path);
}

/* A cancelled fiber still reads. */
static void *cancelled_body(void *arg)
{
    int fd = filch_open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    unsigned char buf[BLOCK];

    (void)arg;
    write_file(fd);
    drop_cache(fd);
    filch_fiber_cancel(filch_fiber_self());
    CHECK_INT(pread_all(fd, buf, BLOCK, 0), BLOCK);
    check_bytes(buf, BLOCK, 0);
    CHECK_INT(filch_close(fd), 0);
    return NULL;
}

static void cancelled(void)
{
    on_fiber(cancelled_body, NULL);
    unlink(path);
}

/* ---- FIFOs ---- */

static void *open_reader(void *arg)
{
    (void)arg;
    return (void *)(intptr_t)filch_open(fifo, O_RDONLY, 0);
}

static void *open_writer(void *arg)
{
    (void)arg;
    return (void *)(intptr_t)filch_open(fifo, O_WRONLY, 0);
}

static int join_fd(filch_fiber *f)
{
    void *fd;

    CHECK_INT(filch_fiber_join(f, &fd), 0);
    return (int)(intptr_t)fd;
}

/* Returns a fiber that waits for the other end. */
static filch_fiber *start_opening(void *(*body)(void *))
{
    filch_fiber *f = filch_fiber_start(body, NULL);

    await_dump("waits for open");
    return f;
}

static void fifo_transfers(int in, int out)
{
    char c = 0;

    CHECK(in >= 0);
    CHECK(out >= 0);
    CHECK(fcntl(in, F_GETFL) & O_NONBLOCK);
    CHECK_INT(filch_read_until(in, &c, 1, filch_now() + FILCH_MS(1)), -ETIMEDOUT);
    CHECK_INT(filch_write(out, "x", 1), 1);
    CHECK_INT(filch_read(in, &c, 1), 1);
    CHECK_INT(c, 'x');
    CHECK_INT(filch_close(out), 0);
    CHECK_INT(filch_read(in, &c, 1), 0);
    CHECK_INT(filch_close(in), 0);
}

static void fifos(void)
{
    filch_fiber *f;
    int fd;

    CHECK_INT(mkfifo(fifo, 0600), 0);
    f = start_opening(open_reader);
    fd = (int)(intptr_t)on_fiber(open_writer, NULL);
    fifo_transfers(join_fd(f), fd);
    f = start_opening(open_writer);
    fd = (int)(intptr_t)on_fiber(open_reader, NULL);
    fifo_transfers(fd, join_fd(f));
    f = start_opening(open_writer);
    fd = (int)(intptr_t)in_thread(open_reader, NULL);
    fifo_transfers(fd, join_fd(f));
    f = start_opening(open_reader);
    filch_fiber_cancel(f);
    CHECK_INT(join_fd(f), -ECANCELED);
    f = start_opening(open_writer);
    filch_fiber_cancel(f);
    CHECK_INT(join_fd(f), -ECANCELED);
    CHECK_INT(filch_open(fifo, O_WRONLY | O_NONBLOCK, 0), -ENXIO);
    unlink(fifo);
}

/* A writer that is gone again still counts: its data can be read. */
static void fifo_left(void)
{
    filch_fiber *f;
    int in, out;
    char c = 0;

    CHECK_INT(mkfifo(fifo, 0600), 0);
    f = start_opening(open_reader);
    out = open(fifo, O_WRONLY);
    CHECK_INT(write(out, "y", 1), 1);
    close(out);
    in = join_fd(f);
    CHECK_INT(filch_read(in, &c, 1), 1);
    CHECK_INT(c, 'y');
    CHECK_INT(filch_read(in, &c, 1), 0);
    CHECK_INT(filch_close(in), 0);
    unlink(fifo);
}

/* ---- without io_uring ---- */

static void with_each(void)
{
    workers_each(NULL, calls);
    workers_each(NULL, many);
    workers_each(NULL, closed);
}

static int run_without(unsigned call)
{
    pid_t child = fork();
    int status;

    CHECK(child >= 0);
    if (child == 0) {
        if (call && !refuse_call(call, EPERM))
            _exit(77);
        with_each();
        _exit(0);
    }
    CHECK_INT(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void test_refused(void **state)
{
    static const unsigned refused[] = {SYS_io_uring_setup, SYS_io_uring_enter, SYS_preadv2};

    (void)state;
#ifdef FILCH_EMULATED
    puts("skipped: the emulator makes other system calls");
    return;
#endif
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        int e = run_without(refused[i]);
        CHECK(e == 0 || e == 77);
    }
}

WITH_WORKERS(calls)
WITH_WORKERS(many)
WITH_WORKERS(submitters_end)
WITH_WORKERS(direct)
WITH_WORKERS(closed)
WITH_WORKERS(cancelled)
WITH_WORKERS(fifos)
WITH_WORKERS(fifo_left)

int main(void)
{
    const struct CMUnitTest tests[] = {CHECK_EACH(test_calls, test_many, test_submitters_end,
                                                  test_direct, test_closed, test_cancelled,
                                                  test_fifos, test_fifo_left, test_refused)};

    snprintf(path, sizeof path, "/tmp/filch-files-%ld", (long)getpid());
    snprintf(fifo, sizeof fifo, "/tmp/filch-files-%ld.fifo", (long)getpid());
    return CHECK_RUN(tests);
}
