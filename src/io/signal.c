/* filch_signal_wait.  A fiber waits with a signalfd of its own, because the worker must not wait in
 * sigwaitinfo(2). */
#include "base/clock.h"
#include "base/message.h"
#include "io/io.h"
#include "io/opened.h"
#include "io/retry.h"

#include <filch/io.h>

#include <signal.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000

/* ---- the set ---- */

static int lowest_signal(const sigset_t *set)
{
    for (int i = 1; i <= SIGRTMAX; i++)
        if (sigismember(set, i) == 1)
            return i;
    return 0;
}

/* A signal of the set that the calling thread does not block; 0: none.  Two signals cannot be
 * blocked, and are ignored as in sigwait(3). */
static int unblocked_signal(const sigset_t *set)
{
    sigset_t blocked;

    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    for (int i = 1; i <= SIGRTMAX; i++)
        if (i != SIGKILL && i != SIGSTOP && sigismember(set, i) == 1 && !sigismember(&blocked, i))
            return i;
    return 0;
}

static int check_set(const sigset_t *set)
{
    int number;

    if (!set || lowest_signal(set) == 0)
        return fi_message_invalid("filch_signal_wait: set is %s; put the signals into it",
                                  set ? "empty" : "NULL");
    number = unblocked_signal(set);
    return number == 0
               ? 0
               : fi_message_invalid("filch_signal_wait: the thread does not block signal %d; "
                                    "block it in main, before the runtime starts",
                                    number);
}

/* ---- attempts ---- */

/* Returns the number of a pending signal, -EAGAIN, or -EINTR. */
static ssize_t take_until(const sigset_t *set, int64_t deadline)
{
    int64_t ns = fi_clock_left(deadline);
    struct timespec t = {.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};

    return fi_syscall_result(sigtimedwait(set, NULL, &t));
}

static ssize_t try_pending(fi_io_op *op)
{
    return take_until(op->buf, 0);
}

static ssize_t try_signalfd(fi_io_op *op)
{
    struct signalfd_siginfo info;
    ssize_t n = fi_syscall_result(read(op->fd, &info, sizeof info));

    return n < 0 ? n : (ssize_t)info.ssi_signo;
}

static const fi_io_op_kind signal_kind = {.name = "signal",
                                          .attempt = try_signalfd,
                                          .attempt_nowait = try_signalfd,
                                          .never_a_file = true};

/* ---- waiting ---- */

static ssize_t wait_on_thread(const fi_io_op *op)
{
    ssize_t n;

    do
        n = op->deadline == FILCH_FOREVER ? fi_syscall_result(sigwaitinfo(op->buf, NULL))
                                          : take_until(op->buf, op->deadline);
    while (n == -EINTR || (n == -EAGAIN && fi_clock_now() < op->deadline));
    return n == -EAGAIN ? -ETIMEDOUT : n;
}

/* There is no descriptor for a signalfd, or it is not allowed. */
static ssize_t wait_by_retries(fi_io_op *op)
{
    fi_retry retry = {.reason = {op->kind->name, (const void *)(intptr_t)op->subject},
                      .deadline = op->deadline};
    ssize_t n;
    int e;

    while ((n = fi_io_op_attempt(op, try_pending)) == -EAGAIN)
        if ((e = fi_retry_wait(&retry)) < 0)
            return e;
    return n;
}

int filch_signal_wait(const sigset_t *set, int64_t deadline)
{
    fi_wait_chaos();
    fi_io_op op = {.kind = &signal_kind,
                   .direction = FI_IO_READ,
                   .deadline = deadline,
                   .buf = (void *)(uintptr_t)set};
    int e = check_set(set);
    ssize_t n;

    if (e < 0)
        return e;
    n = fi_io_op_attempt(&op, try_pending);
    if (n != -EAGAIN)
        return (int)n;
    if (!fi_io_fiber_runtime())
        return (int)wait_on_thread(&op);
    op.subject = lowest_signal(set);
    op.fd = signalfd(-1, set, SFD_NONBLOCK | SFD_CLOEXEC);
    return (int)(op.fd < 0 ? wait_by_retries(&op) : fi_opened_run(&op));
}
