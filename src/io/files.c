/* Reading, writing and asking about files at a given offset. */
#include "base/message.h"
#include "io/op.h"

#include <filch/io.h>

#include <sys/stat.h>
#include <unistd.h>

/* Pipes, sockets and terminals report an error at once, so these calls need no other form for
 * them. */
static ssize_t try_pread(fi_io_op *op)
{
    return fi_syscall_result(pread(op->fd, op->buf, op->n, op->offset));
}

static const fi_io_op_kind pread_kind = {
    .name = "read", .attempt = try_pread, .attempt_nowait = try_pread, .reads_file = true};

static ssize_t try_pwrite(fi_io_op *op)
{
    return fi_syscall_result(pwrite(op->fd, op->buf, op->n, op->offset));
}

static const fi_io_op_kind pwrite_kind = {
    .name = "write", .attempt = try_pwrite, .attempt_nowait = try_pwrite};

int fi_io_check_offset(const char *function, off_t offset)
{
    return offset >= 0 ? 0
                       : fi_message_invalid("%s: offset is negative (%lld); use 0 or more",
                                            function, (long long)offset);
}

ssize_t filch_pread(int fd, void *buf, size_t n, off_t offset)
{
    int e = fi_io_check_offset("filch_pread", offset);

    return e < 0 ? e
                 : fi_io_op_run(&(fi_io_op){.kind = &pread_kind,
                                            .fd = fd,
                                            .direction = FI_IO_READ,
                                            .deadline = FILCH_FOREVER,
                                            .buf = buf,
                                            .n = n,
                                            .unit = FI_IO_OP_BYTES,
                                            .offset = offset});
}

ssize_t filch_pwrite(int fd, const void *buf, size_t n, off_t offset)
{
    int e = fi_io_check_offset("filch_pwrite", offset);

    return e < 0 ? e
                 : fi_io_op_run(&(fi_io_op){.kind = &pwrite_kind,
                                            .fd = fd,
                                            .direction = FI_IO_WRITE,
                                            .deadline = FILCH_FOREVER,
                                            .buf = (void *)(uintptr_t)buf,
                                            .n = n,
                                            .unit = FI_IO_OP_BYTES,
                                            .offset = offset});
}

/* ---- fsync and stat ---- */

static ssize_t try_fsync(fi_io_op *op)
{
    return fi_syscall_result(fsync(op->fd));
}

static const fi_io_op_kind fsync_kind = {
    .name = "fsync", .attempt = try_fsync, .attempt_nowait = try_fsync};

int filch_fsync(int fd)
{
    return (int)fi_io_op_run(&(fi_io_op){
        .kind = &fsync_kind, .fd = fd, .direction = FI_IO_WRITE, .deadline = FILCH_FOREVER});
}

static ssize_t try_fstat(fi_io_op *op)
{
    return fi_syscall_result(fstat(op->fd, op->buf));
}

static const fi_io_op_kind fstat_kind = {
    .name = "stat", .attempt = try_fstat, .attempt_nowait = try_fstat};

int filch_fstat(int fd, struct stat *st)
{
    return (int)fi_io_op_run(&(fi_io_op){.kind = &fstat_kind,
                                         .fd = fd,
                                         .direction = FI_IO_READ,
                                         .deadline = FILCH_FOREVER,
                                         .buf = st});
}

typedef struct stat_call {
    const char *path;
    struct stat *st;
    int result;
} stat_call;

static int64_t stat_run(void *arg)
{
    stat_call *c = arg;

    c->result = (int)fi_syscall_result(stat(c->path, c->st));
    return 0;
}

int filch_stat(const char *path, struct stat *st)
{
    stat_call c = {path, st, 0};

    return filch_run_blocking(stat_run, &c) < 0 ? -ENOMEM : c.result;
}
