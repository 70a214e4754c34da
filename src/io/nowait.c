#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* preadv2, RWF_NOWAIT */
#endif
#include "io/nowait.h"

#include "base/at_fork.h"
#include "base/futex.h"
#include "io/op.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define CURRENT_POSITION (-1)

/* The errors by which kernels, emulators and filters refuse an unknown call or flag. */
static ssize_t none_if_refused(ssize_t n)
{
    return n == -EOPNOTSUPP || n == -ENOSYS || n == -EPERM || n == -EINVAL ? FI_NOWAIT_NONE : n;
}

/* ---- terminals and FIFOs ---- */

/* Opening the main end of a pseudo-terminal again would open a new pseudo-terminal. */
static bool is_pty_main(int fd)
{
    unsigned number;

    return ioctl(fd, TIOCGPTN, &number) == 0;
}

bool fi_nowait_is_terminal(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && isatty(fd);
}

bool fi_nowait_is_fifo(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
}

/* Open the file again, for one call, with a mode of its own.  Returns the new descriptor, or -1. */
static int open_again(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    char path[32];

    if (flags < 0 || flags & O_NONBLOCK)
        return -1;
    if (!fi_nowait_is_fifo(fd) && (!fi_nowait_is_terminal(fd) || is_pty_main(fd)))
        return -1;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, (flags & O_ACCMODE) | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

static ssize_t close_after(int fd, ssize_t result)
{
    close(fd);
    return result;
}

static ssize_t read_again(int fd, const struct iovec *v, int n)
{
    int own = open_again(fd);

    return own < 0 ? FI_NOWAIT_NONE : close_after(own, fi_syscall_result(readv(own, v, n)));
}

static ssize_t write_again(int fd, const struct iovec *v, int n)
{
    int own = open_again(fd);

    return own < 0 ? FI_NOWAIT_NONE : close_after(own, fi_syscall_result(writev(own, v, n)));
}

/* ---- any file ---- */

/* Sockets of newer kernels take RWF_NOWAIT as well. */
__attribute__((noinline)) ssize_t fi_nowait_readv(int fd, const struct iovec *v, int n)
{
    struct msghdr m = {.msg_iov = (struct iovec *)(uintptr_t)v, .msg_iovlen = (size_t)n};
    ssize_t got =
        none_if_refused(fi_syscall_result(preadv2(fd, v, n, CURRENT_POSITION, RWF_NOWAIT)));

    if (got != FI_NOWAIT_NONE)
        return got;
    got = fi_syscall_result(recvmsg(fd, &m, MSG_DONTWAIT));
    return got == -ENOTSOCK ? read_again(fd, v, n) : got;
}

/* As a socket first, because only sockets have a flag that suppresses SIGPIPE. */
__attribute__((noinline)) ssize_t fi_nowait_writev(int fd, const struct iovec *v, int n)
{
    struct msghdr m = {.msg_iov = (struct iovec *)(uintptr_t)v, .msg_iovlen = (size_t)n};
    ssize_t put = fi_syscall_result(sendmsg(fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL));

    if (put != -ENOTSOCK)
        return put;
    put = none_if_refused(fi_syscall_result(pwritev2(fd, v, n, CURRENT_POSITION, RWF_NOWAIT)));
    return put == FI_NOWAIT_NONE ? write_again(fd, v, n) : put;
}

__attribute__((noinline)) bool fi_nowait_is_set(int fd)
{
    int flags = fcntl(fd, F_GETFL);

    return flags < 0 || flags & O_NONBLOCK; /* no such descriptor: the call itself fails */
}

__attribute__((noinline)) bool fi_nowait_is_ready(int fd, short events)
{
    struct pollfd p = {.fd = fd, .events = events};

    return poll(&p, 1, 0) != 0;
}

/* ---- one at a time ---- */

static fi_lock turns_lock;
static fi_nowait_turn *turns;           /* all turns, on the stacks of their threads */
static FI_ATOMIC(uint32_t) turns_ended; /* written under the turns_lock; waiters sleep on it */

/* [child of a fork] The threads with turns are in the parent. */
static void forget_turns(void)
{
    turns = NULL;
}

__attribute__((constructor)) static void register_at_fork(void)
{
    fi_at_fork(FI_FORK_TURNS, &turns_lock, forget_turns);
}

static bool is_taken(const fi_nowait_turn *wanted)
{
    for (const fi_nowait_turn *t = turns; t; t = t->next)
        if (t->fd == wanted->fd && t->events == wanted->events)
            return true;
    return false;
}

/* Waits for the turn and not for the next event, because the calls before may leave something. */
static void wait_for_turn(fi_nowait_turn *t)
{
    fi_lock_lock(&turns_lock);
    while (is_taken(t)) {
        uint32_t seen = fi_load_relaxed(&turns_ended);
        fi_lock_unlock(&turns_lock);
        fi_futex_wait(&turns_ended, seen, FI_FUTEX_FOREVER);
        fi_lock_lock(&turns_lock);
    }
    t->next = turns;
    turns = t;
    fi_lock_unlock(&turns_lock);
}

bool fi_nowait_begin_turn(fi_nowait_turn *t, int fd, short events)
{
    *t = (fi_nowait_turn){.fd = fd, .events = events};
    wait_for_turn(t);
    if (fi_nowait_is_ready(fd, events))
        return true;
    fi_nowait_end_turn(t);
    return false;
}

void fi_nowait_end_turn(fi_nowait_turn *t)
{
    fi_nowait_turn **link = &turns;

    fi_lock_lock(&turns_lock);
    while (*link != t)
        link = &(*link)->next;
    *link = t->next;
    fi_store_relaxed(&turns_ended, fi_load_relaxed(&turns_ended) + 1u);
    fi_lock_unlock(&turns_lock);
    fi_futex_wake(&turns_ended, INT_MAX);
}
