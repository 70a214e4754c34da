/* filch_close during a system call of another fiber on the same number.  The number must not be
 * closed before that call ends, or it could belong to another file.  A call that would block must
 * not begin to wait. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* syscall */
#endif
#include "unit/io/helpers.h"

#include <sys/syscall.h>

#define YIELDS 200 /* for a wrong close to show itself */

/* ---- slow versions of read(2), write(2) and close(2) ---- */

static atomic_int slow_fd; /* only this number is slow */
static atomic_bool inside, closed_during_call, closed;

static fi_fd *slow_state;

static bool is_closing(fi_fd *f)
{
    bool is;

    fi_fd_lock(f);
    is = f->closing;
    fi_fd_unlock(f);
    return is;
}

/* Wait until another fiber or thread is about to close the number, and has had time to do so. */
static void await_closer(int fd)
{
    if (fd != atomic_load(&slow_fd))
        return;
    atomic_store(&inside, true);
    while (!is_closing(slow_state) && !atomic_load(&closed))
        sched_yield();
    for (int i = 0; i < YIELDS && !atomic_load(&closed); i++)
        sched_yield();
    atomic_store(&inside, false);
}

ssize_t read(int fd, void *buf, size_t n)
{
    await_closer(fd);
    return syscall(SYS_read, fd, buf, n);
}

ssize_t write(int fd, const void *buf, size_t n)
{
    await_closer(fd);
    return syscall(SYS_write, fd, buf, n);
}

int close(int fd)
{
    if (fd == atomic_load(&slow_fd)) {
        if (atomic_load(&inside))
            atomic_store(&closed_during_call, true);
        atomic_store(&closed, true);
    }
    return (int)syscall(SYS_close, fd);
}

static void race_begin(int fd)
{
    slow_state = fd_state(fd);
    atomic_store(&closed_during_call, false);
    atomic_store(&closed, false);
    atomic_store(&slow_fd, fd);
}

static void race_end(void)
{
    atomic_store(&slow_fd, -1);
}

/* ---- tests ---- */

static void *read_one(void *arg)
{
    char c = 0;
    ssize_t n = filch_read((int)(intptr_t)arg, &c, 1);

    return (void *)n;
}

static void *write_one(void *arg)
{
    ssize_t n = filch_write((int)(intptr_t)arg, "x", 1);

    return (void *)n;
}

static void *close_it(void *arg)
{
    return (void *)(intptr_t)filch_close((int)(intptr_t)arg);
}

/* Close the number during a call of the fiber `user`, on a fiber or in a thread.  The call ends
 * with this result, and before the number is closed. */
static void close_during_call(int fd, void *(*user)(void *),
                              void *(*run)(void *(*)(void *), void *), ssize_t result)
{
    void *arg = (void *)(intptr_t)fd, *n = NULL;
    filch_fiber *f;

    race_begin(fd);
    f = filch_fiber_start(user, arg);
    while (!atomic_load(&inside))
        sched_yield();
    CHECK_INT((intptr_t)run(close_it, arg), 0);
    CHECK_INT(filch_fiber_join_until(f, &n, filch_now() + FILCH_S(100)), 0);
    CHECK(!atomic_load(&closed_during_call));
    CHECK_INT((intptr_t)n, result);
    race_end();
}

static void read_on_worker(void)
{
    int fd[2];

    if (filch_worker_count() < 2) /* the reader occupies the only one */
        return;
    for (int i = 0; i < 10; i++) {
        CHECK_INT(filch_pipe(fd), 0);
        CHECK_INT(write(fd[1], "x", 1), 1);
        close_during_call(fd[0], read_one, on_fiber, 1);
        CHECK_INT(filch_close(fd[1]), 0);
    }
}

/* Regular files are written by the blocking pool. */
static void write_on_blocking_thread(void)
{
    char path[] = "/tmp/filch-io-XXXXXX";
    int fd = mkstemp(path);

    CHECK(fd >= 0);
    unlink(path);
    close_during_call(fd, write_one, on_fiber, 1);
}

/* The pipe is full, and filch_close has woken all waiters before the write begins to wait. */
static void write_before_wait(void)
{
    char page[4096] = {0};
    int fd[2];

    CHECK_INT(filch_pipe(fd), 0);
    while (write(fd[1], page, sizeof page) > 0)
        ;
    close_during_call(fd[1], write_one, in_thread, -ECANCELED);
    CHECK_INT(filch_close(fd[0]), 0);
}

WITH_WORKERS(read_on_worker)
WITH_WORKERS(write_on_blocking_thread)
WITH_WORKERS(write_before_wait)

CHECK_MAIN(test_read_on_worker, test_write_on_blocking_thread, test_write_before_wait)
