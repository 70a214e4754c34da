/* Opening files.  A blocking thread makes the call, because a path may lead to a slow device.
 *
 * Opening a FIFO waits for the other end, possibly for ever.  A blocking thread that waits there
 * could not be interrupted, and two fibers that open the two ends could need two of them.  So the
 * FIFO is opened without waiting, and the fiber looks for the other end at intervals: the kernel
 * has no event for it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* O_PATH, O_DIRECT, tee, pipe2 */
#endif
#include "io/io.h"
#include "io/opened.h"
#include "io/retry.h"

#include <filch/io.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct open_call {
    int dir;
    const char *path;
    int flags;
    mode_t mode;
    bool is_fifo; /* found by the call */
    int result;
} open_call;

/* ---- the call ---- */

static bool is_fifo_path(const open_call *c)
{
    struct stat st;

    return !(c->flags & (O_PATH | O_NONBLOCK)) && fstatat(c->dir, c->path, &st, 0) == 0 &&
           S_ISFIFO(st.st_mode);
}

static int open_now(const open_call *c, int more_flags)
{
    int fd;

    do
        fd = (int)fi_syscall_result(
            openat(c->dir, c->path, c->flags | O_CLOEXEC | more_flags, c->mode));
    while (fd == -EINTR);
    return fd;
}

static int64_t open_run(void *arg)
{
    open_call *c = arg;

    c->is_fifo = is_fifo_path(c);
    c->result = open_now(c, c->is_fifo ? O_NONBLOCK : 0);
    return 0;
}

/* The open file description is new, so no other process shares its flags. */
static int register_opened(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    bool is_file = fi_io_is_file(fd);

    if (!is_file && !(flags & (O_PATH | O_NONBLOCK)))
        fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    fi_opened_register(fd, (fi_fd_kind){.not_socket = true,
                                        .is_file = is_file || flags & O_PATH,
                                        .is_direct = flags & O_DIRECT});
    return fd;
}

/* ---- the other end of a FIFO ---- */

/* tee(2) copies data without taking it, and tells a FIFO that is empty from one without writers. */
static bool has_writer(int fd, int scratch)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};

    if (poll(&p, 1, 0) > 0)
        return true;
    return tee(fd, scratch, 1, SPLICE_F_NONBLOCK) != 0;
}

static int await_writer(int fd, fi_retry *retry)
{
    int scratch[2], e = 0;

    if (pipe2(scratch, O_CLOEXEC | O_NONBLOCK) < 0)
        return -errno;
    while (e == 0 && !has_writer(fd, scratch[1]))
        e = fi_retry_wait(retry);
    close(scratch[0]);
    close(scratch[1]);
    return e;
}

/* A FIFO without a reader cannot be opened for writing (ENXIO). */
static int open_fifo(open_call *c)
{
    fi_retry retry = {.reason = {"open", NULL}, .deadline = FILCH_FOREVER};
    int fd = c->result, e = 0;

    while (fd == -ENXIO && (e = fi_retry_wait(&retry)) == 0)
        fd = open_now(c, O_NONBLOCK);
    if (e == 0 && fd >= 0 && (c->flags & O_ACCMODE) == O_RDONLY)
        e = await_writer(fd, &retry);
    if (e == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return e;
}

/* ---- */

int filch_openat(int dir, const char *path, int flags, mode_t mode)
{
    fi_wait_chaos();
    open_call c = {.dir = dir, .path = path, .flags = flags, .mode = mode};

    if (!fi_io_fiber_runtime())
        c.result = open_now(&c, 0);
    else if (filch_run_blocking(open_run, &c) < 0)
        return -ENOMEM;
    if (c.is_fifo)
        c.result = open_fifo(&c);
    return c.result < 0 ? c.result : register_opened(c.result);
}

int filch_open(const char *path, int flags, mode_t mode)
{
    return filch_openat(AT_FDCWD, path, flags, mode);
}
