/* filch_waitpid.  A descriptor of the process (pidfd) is ready when the process has ended. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* syscall */
#endif
#include "base/message.h"
#include "io/io.h"
#include "io/opened.h"
#include "io/retry.h"

#include <filch/io.h>

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Newer than some headers.  The number is the same on all architectures. */
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

/* The child must exist, and must not be the child of another process: the number could have been
 * reused.  So each attempt asks the kernel. */
static ssize_t try_waitpid(fi_io_op *op)
{
    pid_t pid = waitpid(op->subject, op->buf, op->flags | WNOHANG);

    return pid == 0 ? -EAGAIN : fi_syscall_result(pid);
}

static const fi_io_op_kind process_kind = {
    .name = "process", .attempt = try_waitpid, .attempt_nowait = try_waitpid, .never_a_file = true};

static pid_t wait_on_thread(const fi_io_op *op)
{
    pid_t pid;

    do
        pid = (pid_t)fi_syscall_result(waitpid(op->subject, op->buf, op->flags));
    while (pid == -EINTR);
    return pid;
}

static ssize_t wait_by_retries(fi_io_op *op)
{
    fi_retry retry = {.reason = {op->kind->name, (const void *)(intptr_t)op->subject},
                      .deadline = op->deadline};
    ssize_t n;
    int e;

    while ((n = fi_io_op_attempt(op, try_waitpid)) == -EAGAIN)
        if ((e = fi_retry_wait(&retry)) < 0)
            return e;
    return n;
}

/* Old kernels and filters refuse pidfd_open, and it does not report that a process was stopped or
 * continued. */
static int open_process(const fi_io_op *op)
{
    return op->flags & (WUNTRACED | WCONTINUED)
               ? -1
               : (int)syscall(SYS_pidfd_open, op->subject, 0); /* it is closed on exec */
}

pid_t filch_waitpid_until(pid_t pid, int *status, int options, int64_t deadline)
{
    fi_wait_chaos();
    fi_io_op op = {.kind = &process_kind,
                   .direction = FI_IO_READ,
                   .deadline = deadline,
                   .buf = status,
                   .flags = options,
                   .subject = pid};
    ssize_t n;

    if (pid <= 0)
        return fi_message_invalid(
            "filch_waitpid: pid must be that of one child (%ld); other parts of "
            "the program may wait for their own children",
            (long)pid);
    n = fi_io_op_attempt(&op, try_waitpid);
    if (n == -EINVAL)
        return fi_message_invalid("filch_waitpid: unknown options (%#x); use those of waitpid(2)",
                                  (unsigned)options);
    if (n == -EAGAIN && options & WNOHANG)
        return 0;
    if (n != -EAGAIN)
        return (pid_t)n;
    if (!fi_io_fiber_runtime() && deadline == FILCH_FOREVER)
        return wait_on_thread(&op);
    op.fd = open_process(&op);
    return (pid_t)(op.fd < 0 ? wait_by_retries(&op) : fi_opened_run(&op));
}

pid_t filch_waitpid(pid_t pid, int *status, int options)
{
    return filch_waitpid_until(pid, status, options, FILCH_FOREVER);
}
