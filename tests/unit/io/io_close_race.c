/* A call that has looked at what is known of its descriptor, and makes its system call a moment later: meanwhile the number must not
 * be closed, or it could be another file's. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* syscall */
#endif
#include "unit/io/helpers.h"

#include <sys/syscall.h>

#define PATIENCE 200 /* turns that a close beside a read has to show itself */

/* ---- a read(2) and a close(2) that take a while, in place of the system's ---- */

static atomic_int slow_fd; /* the others are as always */
static atomic_bool inside, closed_beside, closed;

static bool is_closing(int fd)
{
    fi_runtime *rt = fi_runtime_lock_running();
    fi_fd *f = fi_fd_table_find(&fi_io_find(rt)->fd_table, fd);
    bool is;

    fi_hold_also(&f->lock);
    is = f->closing;
    fi_let_go(&f->lock);
    fi_runtime_unlock_running();
    return is;
}

/* Until somebody is about to close it, and has had time to do so. */
ssize_t read(int fd, void *buf, size_t n)
{
    if (fd == atomic_load(&slow_fd)) {
        atomic_store(&inside, true);
        while (!is_closing(fd) && !atomic_load(&closed))
            sched_yield();
        for (int i = 0; i < PATIENCE && !atomic_load(&closed); i++)
            sched_yield();
        atomic_store(&inside, false);
    }
    return syscall(SYS_read, fd, buf, n);
}

int close(int fd)
{
    if (fd == atomic_load(&slow_fd)) {
        if (atomic_load(&inside))
            atomic_store(&closed_beside, true);
        atomic_store(&closed, true);
    }
    return (int)syscall(SYS_close, fd);
}

static void begin(int fd)
{
    atomic_store(&slow_fd, fd);
    atomic_store(&closed_beside, false);
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

/* The reader gets what is there, or nothing; and the number was its file's meanwhile. */
static void waits_for(int fd, void *(*reader)(void *), ssize_t there)
{
    void *arg = (void *)(intptr_t)fd, *n = NULL, *e = NULL;
    filch_fiber *f;

    begin(fd);
    f = filch_fiber_start(reader, arg);
    while (!atomic_load(&inside))
        sched_yield();
    e = on_fiber(close_it, arg);
    CHECK_INT((intptr_t)e, 0);
    CHECK_INT(filch_fiber_join(f, &n), 0);
    CHECK(!atomic_load(&closed_beside));
    CHECK_INT((intptr_t)n, there);
    begin(-1);
}

static void by_workers(void)
{
    int fd[2];

    if (filch_worker_count() < 2) /* who reads keeps the only one */
        return;
    for (int i = 0; i < 10; i++) {
        CHECK_INT(filch_pipe(fd), 0);
        CHECK_INT(write(fd[1], "x", 1), 1);
        waits_for(fd[0], read_one, 1);
        CHECK_INT(filch_close(fd[1]), 0);
    }
}

/* Regular files are read by spare threads. */
static void by_spares(void)
{
    char path[] = "/tmp/filch-io-XXXXXX";
    int fd = mkstemp(path);

    CHECK(fd >= 0);
    unlink(path);
    CHECK_INT(write(fd, "xy", 2), 2);
    CHECK_INT(lseek(fd, 0, SEEK_SET), 0);
    waits_for(fd, read_one, 1);
}

WITH_WORKERS(by_workers)
WITH_WORKERS(by_spares)

CHECK_MAIN(test_by_workers, test_by_spares)
