/* Calls on regular files, which never report that they would block.
 *
 * A read that finds its data in memory takes a microsecond, and another thread would take ten times
 * as long.  So a fiber asks the kernel first for what is in memory.  The rest is read by io_uring,
 * or by the blocking pool if there is no io_uring (docs/decisions/013-file-reads.md). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* preadv2, RWF_NOWAIT, statx */
#endif
#include "io/io.h"
#include "io/op.h"
#include "io/ring.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>

/* fstat(2) would ask the server of a network file system. */
mode_t fi_io_file_mode(int fd)
{
    struct statx sx;
    struct stat st;

    if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &sx) == 0)
        return sx.stx_mode;
    return fstat(fd, &st) == 0 ? st.st_mode : 0;
}

/* [blocking thread] */
static ssize_t attempt_on_thread(fi_io_op *op)
{
    return fi_io_op_attempt(op, op->kind->attempt);
}

/* With O_DIRECT the kernel ignores RWF_NOWAIT when it waits for the device. */
static bool may_be_cached(const fi_io_op *op)
{
    int flags = op->is_file ? 0 : fcntl(op->fd, F_GETFL);

    return op->is_file ? !op->is_direct : flags >= 0 && !(flags & O_DIRECT);
}

static ssize_t read_cached(fi_io_op *op)
{
    struct iovec v = {op->buf, op->n};

    return fi_syscall_result(preadv2(op->fd, &v, 1, op->offset, RWF_NOWAIT));
}

static void op_skip(fi_io_op *op, size_t n)
{
    op->buf = (char *)op->buf + n;
    op->n -= n;
    op->offset += op->offset < 0 ? 0 : (off_t)n;
}

/* Read all that is in memory.  Returns true if that is all there is: the rest of the operation is
 * empty, or begins at the end of the file. */
static bool read_all_cached(fi_io_op *op)
{
    ssize_t n;

    while ((n = read_cached(op)) > 0) {
        op_skip(op, (size_t)n);
        if (op->n == 0)
            return true;
    }
    return n == 0;
}

/* Each request of the ring is followed by a look into memory, which finds the end of the file.
 * Returns false if the ring failed. */
static bool read_by_ring(fi_io_op *op, bool cached)
{
    ssize_t n;

    do {
        n = fi_ring_read(op);
        if (n > 0)
            op_skip(op, (size_t)n);
    } while (n > 0 && op->n > 0 && cached && !read_all_cached(op));
    return n >= 0;
}

/* The ring is not used at the position of the file, which it does not lock.  After an error of the
 * ring the blocking pool makes the call again, and reports its error. */
static ssize_t read_rest(fi_io_op *op)
{
    bool cached = may_be_cached(op), done;

    if (cached && read_all_cached(op))
        return 0;
    if (op->offset >= 0 && fi_io_op_begin_request(op)) {
        done = read_by_ring(op, cached);
        fi_io_op_end_request(op);
        if (done)
            return 0;
    }
    return fi_io_op_offload(op, attempt_on_thread);
}

static ssize_t read_file(fi_io_op *op)
{
    void *buf = op->buf;
    size_t n = op->n, done;
    off_t offset = op->offset;
    ssize_t rest = read_rest(op);

    done = n - op->n;
    op->buf = buf;
    op->n = n;
    op->offset = offset;
    return rest >= 0 ? (ssize_t)done + rest : done > 0 ? (ssize_t)done : rest;
}

ssize_t fi_io_op_attempt_file(fi_io_op *op)
{
    if (op->kind->reads_file && op->n > 0)
        return read_file(op);
    return fi_io_op_offload(op, attempt_on_thread);
}
