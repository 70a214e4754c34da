/* Readiness by epoll, edge-triggered: a descriptor that stays open is armed once, and costs no call when it is
 * waited for. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* EPOLLRDHUP, syscall */
#endif
#include "io/backend.h"

#include "base/clock.h"
#include "base/fatal.h"
#include "base/futex.h"
#include "sched/poller.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define INTERRUPT UINT64_MAX /* in place of a descriptor and its generation */
#define NS_PER_S  1000000000

/* Not edge-triggered: somebody who only looks must not take the interrupt from who waits. */
static int watch_interrupt(fi_backend *b)
{
    struct epoll_event ev = {.events = EPOLLIN, .data.u64 = INTERRUPT};

    b->interrupt = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (b->interrupt < 0)
        return -errno;
    if (epoll_ctl(b->epoll, EPOLL_CTL_ADD, b->interrupt, &ev) < 0) {
        int e = -errno;
        close(b->interrupt);
        return e;
    }
    return 0;
}

int fi_backend_init(fi_backend *b)
{
    int e;

    b->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (b->epoll < 0)
        return -errno;
    e = watch_interrupt(b);
    if (e < 0)
        close(b->epoll);
    return e;
}

void fi_backend_fini(fi_backend *b)
{
    close(b->interrupt);
    close(b->epoll);
}

/* ---- what is watched ---- */

static int control(const fi_backend *b, int op, int fd, struct epoll_event *ev)
{
    return epoll_ctl(b->epoll, op, fd, ev) < 0 ? -errno : 0;
}

/* What we know may be wrong: the number may be another file's by now, the file may have been here before, and others may
 * be doing the same. */
int fi_backend_arm(fi_backend *b, int fd, uint32_t generation, unsigned edges, bool known)
{
    struct epoll_event ev = {.events = EPOLLET | EPOLLRDHUP};
    int op = known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, e;

    ev.data.u64 = (uint64_t)generation << 32 | (uint32_t)fd;
    if (edges & 1u << FI_IO_READ)
        ev.events |= EPOLLIN | EPOLLPRI;
    if (edges & 1u << FI_IO_WRITE)
        ev.events |= EPOLLOUT;
    while ((e = control(b, op, fd, &ev)) == -ENOENT || e == -EEXIST)
        op = e == -ENOENT ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    return e;
}

void fi_backend_disarm(fi_backend *b, int fd)
{
    struct epoll_event ev = {0};

    control(b, EPOLL_CTL_DEL, fd, &ev);
}

/* ---- waiting ---- */

static int wait_ms(const fi_backend *b, struct epoll_event *ev, int ms)
{
    return epoll_wait(b->epoll, ev, FI_IO_EVENTS, ms);
}

/* Milliseconds are too coarse for timers, so epoll_wait is only the fallback.  A container may
 * refuse a call that it does not know with any error.  Only EINTR is not a refusal.  If the
 * descriptor is the reason, epoll_wait fails as well. */
static int wait_ns(fi_backend *b, struct epoll_event *ev, int64_t deadline_ns)
{
#if defined SYS_epoll_pwait2 && defined __LP64__
    if (!fi_load_relaxed(&b->ms_only)) {
        int64_t ns = fi_clock_left(deadline_ns);
        struct timespec t = {.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};
        long n = syscall(SYS_epoll_pwait2, b->epoll, ev, FI_IO_EVENTS, &t, NULL, (size_t)0);
        if (n >= 0 || errno == EINTR)
            return (int)n;
        fi_store_relaxed(&b->ms_only, 1u);
    }
#endif
    return wait_ms(b, ev, fi_clock_left_ms(deadline_ns));
}

static int wait_until(fi_backend *b, struct epoll_event *ev, int64_t deadline_ns)
{
    if (deadline_ns == FI_POLL_NOW || deadline_ns == FI_FUTEX_FOREVER)
        return wait_ms(b, ev, deadline_ns == FI_POLL_NOW ? 0 : -1);
    return wait_ns(b, ev, deadline_ns);
}

/* A signal is not an error.  Any other error would repeat for ever. */
static int check(int n)
{
    char text[128];

    if (n < 0 && errno != EINTR) {
        snprintf(text, sizeof text, "epoll_wait: %s%s", strerror(errno),
                 errno == EBADF || errno == EINVAL
                     ? "; the program has closed a descriptor that it did not open"
                     : "");
        fi_fatal(text);
    }
    return n < 0 ? 0 : n;
}

static void take_interrupt(const fi_backend *b)
{
    uint64_t n;
    ssize_t r = read(b->interrupt, &n, sizeof n);

    (void)r;
}

static fi_io_event understand(const struct epoll_event *ev)
{
    const uint32_t gone = EPOLLHUP | EPOLLERR;
    fi_io_event e = {.fd = (int)(uint32_t)ev->data.u64,
                     .generation = (uint32_t)(ev->data.u64 >> 32)};

    e.readable = (ev->events & (EPOLLIN | EPOLLPRI | EPOLLRDHUP | gone)) != 0;
    e.writable = (ev->events & (EPOLLOUT | gone)) != 0;
    e.restless = (ev->events & (EPOLLPRI | EPOLLRDHUP | gone)) != 0;
    return e;
}

int fi_backend_wait(fi_backend *b, fi_io_event *events, int64_t deadline_ns)
{
    struct epoll_event ev[FI_IO_EVENTS];
    int n = check(wait_until(b, ev, deadline_ns)), told = 0;

    for (int i = 0; i < n; i++) {
        if (ev[i].data.u64 != INTERRUPT)
            events[told++] = understand(&ev[i]);
        else if (deadline_ns != FI_POLL_NOW)
            take_interrupt(b);
    }
    return told;
}

/* It cannot fail: the count does not reach its end. */
void fi_backend_interrupt(fi_backend *b)
{
    uint64_t one = 1;
    ssize_t r = write(b->interrupt, &one, sizeof one);

    (void)r;
}
