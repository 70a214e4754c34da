/* filch_close during a system call of another fiber on the same number.  The number must not be
 * closed before that call ends, or it could belong to another file. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* syscall */
#endif
#include "unit/io/helpers.h"

#include <sys/syscall.h>

#define YIELDS 200 /* for a wrong close to show itself */

/* ---- slow versions of read(2) and close(2) ---- */

static atomic_int slow_fd; /* only this number is slow */
static atomic_bool inside, closed_during_read, closed;

static bool is_closing(int fd)
{
    fi_runtime *rt = fi_runtime_lock_running();
    fi_fd *f = fi_fd_table_find(&fi_io_find(rt)->fd_table, fd);
    bool is;

    fi_fd_lock(f);
    is = f->closing;
    fi_fd_unlock(f);
    fi_runtime_unlock_running();
    return is;
}

/* Waits until another fiber is about to close the number, and has had time to do so. */
ssize_t read(int fd, void *buf, size_t n)
{
    if (fd == atomic_load(&slow_fd)) {
        atomic_store(&inside, true);
        while (!is_closing(fd) && !atomic_load(&closed))
            sched_yield();
        for (int i = 0; i < YIELDS && !atomic_load(&closed); i++)
            sched_yield();
        atomic_store(&inside, false);
    }
    return syscall(SYS_read, fd, buf, n);
}

int close(int fd)
{
    if (fd == atomic_load(&slow_fd)) {
        if (atomic_load(&inside))
            atomic_store(&closed_during_read, true);
        atomic_store(&closed, true);
    }
    return (int)syscall(SYS_close, fd);
}

static void race_begin(int fd)
{
    atomic_store(&slow_fd, fd);
    atomic_store(&closed_during_read, false);
    atomic_store(&closed, false);
}

/* ---- tests ---- */

static void *read_one(void *arg)
{
    char c = 0;
    ssize_t n = filch_read((int)(intptr_t)arg, &c, 1);

    return (void *)n;
}

static void *close_it(void *arg)
{
    return (void *)(intptr_t)filch_close((int)(intptr_t)arg);
}

/* The read succeeds, and ends before the number is closed. */
static void close_during_read(int fd, void *(*reader)(void *), ssize_t there)
{
    void *arg = (void *)(intptr_t)fd, *n = NULL, *e = NULL;
    filch_fiber *f;

    race_begin(fd);
    f = filch_fiber_start(reader, arg);
    while (!atomic_load(&inside))
        sched_yield();
    e = on_fiber(close_it, arg);
    CHECK_INT((intptr_t)e, 0);
    CHECK_INT(filch_fiber_join(f, &n), 0);
    CHECK(!atomic_load(&closed_during_read));
    CHECK_INT((intptr_t)n, there);
    race_begin(-1);
}

static void read_on_worker(void)
{
    int fd[2];

    if (filch_worker_count() < 2) /* the reader occupies the only one */
        return;
    for (int i = 0; i < 10; i++) {
        CHECK_INT(filch_pipe(fd), 0);
        CHECK_INT(write(fd[1], "x", 1), 1);
        close_during_read(fd[0], read_one, 1);
        CHECK_INT(filch_close(fd[1]), 0);
    }
}

/* Regular files are read by the blocking pool. */
static void read_on_blocking_thread(void)
{
    char path[] = "/tmp/filch-io-XXXXXX";
    int fd = mkstemp(path);

    CHECK(fd >= 0);
    unlink(path);
    CHECK_INT(write(fd, "xy", 2), 2);
    CHECK_INT(lseek(fd, 0, SEEK_SET), 0);
    close_during_read(fd, read_one, 1);
}

WITH_WORKERS(read_on_worker)
WITH_WORKERS(read_on_blocking_thread)

CHECK_MAIN(test_read_on_worker, test_read_on_blocking_thread)
