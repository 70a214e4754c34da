/* From a file to a socket.  The file may have to be read from a disk, so this is for a spare thread; and there is no flag
 * that says "no signal", so the signal is kept away. */
#include "io/call.h"

#include <filch/io.h>

#include <signal.h>
#include <sys/sendfile.h>
#include <time.h>

/* If it was pending before, it is somebody else's. */
static void take_sigpipe(void)
{
    struct timespec now = {0, 0};
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    while (sigtimedwait(&set, NULL, &now) < 0 && errno == EINTR)
        ;
}

static bool is_pending(void)
{
    sigset_t set;

    return sigpending(&set) == 0 && sigismember(&set, SIGPIPE) == 1;
}

static ssize_t send_quietly(fi_call *c)
{
    bool before = is_pending();
    sigset_t set, old;
    ssize_t n;

    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &set, &old);
    n = fi_call_result(sendfile(c->fd, c->flags, c->more, c->n));
    if (n == -EPIPE && !before)
        take_sigpipe();
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return n;
}

static ssize_t try_sendfile(fi_call *c)
{
    return fi_call_on_spare(c, send_quietly);
}

ssize_t filch_sendfile_until(int out, int in, off_t *offset, size_t n, int64_t deadline)
{
    return fi_call_run(&(fi_call){.fd = out,
                                  .direction = FI_IO_WRITE,
                                  .what = "write",
                                  .deadline = deadline,
                                  .attempt = try_sendfile,
                                  .more = offset,
                                  .n = n,
                                  .n_of = FI_CALL_OF_BYTES,
                                  .flags = in,
                                  .never_a_file = true});
}

ssize_t filch_sendfile(int out, int in, off_t *offset, size_t n)
{
    return filch_sendfile_until(out, in, offset, n, FILCH_FOREVER);
}
