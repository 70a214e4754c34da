/* From a file to a socket.  The file may have to be read from a disk, so the blocking pool
 * makes the call.  sendfile(2) has no flag that suppresses SIGPIPE, so the signal is blocked. */
#include "io/nowait.h"
#include "io/op.h"

#include <filch/io.h>

#include <signal.h>
#include <sys/sendfile.h>
#include <time.h>
#include <unistd.h>

#define COPY_SIZE 16384

/* Called only if the signal was not pending before, so it was caused by this call. */
static void take_sigpipe(void)
{
    struct timespec now = {0, 0};
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    while (sigtimedwait(&set, NULL, &now) < 0 && errno == EINTR)
        ;
}

static bool sigpipe_is_pending(void)
{
    sigset_t set;

    return sigpending(&set) == 0 && sigismember(&set, SIGPIPE) == 1;
}

static ssize_t without_sigpipe(fi_io_op *op, fi_io_attempt *send)
{
    bool before = sigpipe_is_pending();
    sigset_t set, old;
    ssize_t n;

    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &set, &old);
    n = send(op);
    if (n == -EPIPE && !before)
        take_sigpipe();
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return n;
}

static ssize_t send_file(fi_io_op *op)
{
    return fi_syscall_result(sendfile(op->fd, op->flags, op->more, op->n));
}

static ssize_t send_file_without_sigpipe(fi_io_op *op)
{
    return without_sigpipe(op, send_file);
}

static ssize_t try_sendfile(fi_io_op *op)
{
    return fi_io_op_offload(op, send_file_without_sigpipe);
}

/* ---- to a descriptor in blocking mode ---- */

/* sendfile(2) has no flag not to wait, so the data is copied and sent by a call that has one. */
static ssize_t copy_piece(int out, int in, off_t at, size_t n)
{
    char buf[COPY_SIZE];
    ssize_t got = fi_syscall_result(pread(in, buf, n < sizeof buf ? n : sizeof buf, at));

    return got <= 0 ? got : fi_nowait_writev(out, &(struct iovec){buf, (size_t)got}, 1);
}

/* The next call reports an error that came after the first piece. */
static ssize_t copy_pieces(int out, int in, off_t at, size_t n)
{
    size_t done = 0;
    ssize_t m = 1;

    while (done < n && m > 0) {
        m = copy_piece(out, in, at + (off_t)done, n - done);
        done += m > 0 ? (size_t)m : 0;
    }
    return done > 0 ? (ssize_t)done : m > 0 ? 0 : m;
}

static ssize_t copy_file(fi_io_op *op)
{
    off_t *offset = op->more, at = offset ? *offset : lseek(op->flags, 0, SEEK_CUR);
    ssize_t n;

    if (at < 0)
        return -errno;
    n = copy_pieces(op->fd, op->flags, at, op->n);
    if (n > 0 && offset)
        *offset += n;
    else if (n > 0)
        lseek(op->flags, at + n, SEEK_SET);
    return n;
}

static ssize_t copy_file_without_sigpipe(fi_io_op *op)
{
    return without_sigpipe(op, copy_file);
}

static ssize_t try_sendfile_nowait(fi_io_op *op)
{
    bool plain = fi_nowait_is_set(op->fd) || fi_io_is_file(op->fd);

    return plain ? try_sendfile(op) : fi_io_op_offload(op, copy_file_without_sigpipe);
}

static const fi_io_op_kind sendfile_kind = {.name = "write",
                                            .attempt = try_sendfile,
                                            .attempt_nowait = try_sendfile_nowait,
                                            .never_a_file = true};

ssize_t filch_sendfile_until(int out, int in, off_t *offset, size_t n, int64_t deadline)
{
    int e = offset ? fi_io_check_offset("filch_sendfile", *offset) : 0;

    if (e < 0)
        return e;
    return fi_io_op_run(&(fi_io_op){.kind = &sendfile_kind,
                                    .fd = out,
                                    .direction = FI_IO_WRITE,
                                    .deadline = deadline,
                                    .more = offset,
                                    .n = n,
                                    .unit = FI_IO_OP_BYTES,
                                    .flags = in});
}

ssize_t filch_sendfile(int out, int in, off_t *offset, size_t n)
{
    return filch_sendfile_until(out, in, offset, n, FILCH_FOREVER);
}
