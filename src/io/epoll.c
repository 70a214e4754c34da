#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* EPOLLRDHUP, syscall */
#endif
#include "io/epoll.h"

#include "base/clock.h"
#include "base/fatal.h"
#include "base/futex.h"
#include "sched/poller.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define INTERRUPT UINT64_MAX /* user data of the interrupt descriptor */
#define NS_PER_S  1000000000

/* Level-triggered: a thread that polls without waiting must not take the interrupt from the
 * thread that waits. */
static int add_interrupt_fd(fi_epoll *ep)
{
    struct epoll_event ev = {.events = EPOLLIN, .data.u64 = INTERRUPT};

    ep->interrupt_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (ep->interrupt_fd < 0)
        return -errno;
    if (epoll_ctl(ep->fd, EPOLL_CTL_ADD, ep->interrupt_fd, &ev) < 0) {
        int e = -errno;
        close(ep->interrupt_fd);
        return e;
    }
    return 0;
}

int fi_epoll_init(fi_epoll *ep)
{
    int e;

    ep->fd = epoll_create1(EPOLL_CLOEXEC);
    if (ep->fd < 0)
        return -errno;
    e = add_interrupt_fd(ep);
    if (e < 0)
        close(ep->fd);
    return e;
}

void fi_epoll_fini(fi_epoll *ep)
{
    close(ep->interrupt_fd);
    close(ep->fd);
}

/* ---- arming ---- */

static int epoll_control(const fi_epoll *ep, int op, int fd, struct epoll_event *ev)
{
    return epoll_ctl(ep->fd, op, fd, ev) < 0 ? -errno : 0;
}

/* known may be wrong: the number may belong to another file, the file may have been armed under
 * this number before, and other threads may arm it at the same time. */
int fi_epoll_arm(fi_epoll *ep, int fd, uint32_t generation, unsigned edges, bool known)
{
    struct epoll_event ev = {.events = EPOLLET | EPOLLRDHUP};
    int op = known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, e;

    ev.data.u64 = (uint64_t)generation << 32 | (uint32_t)fd;
    if (edges & 1u << FI_IO_READ)
        ev.events |= EPOLLIN | EPOLLPRI;
    if (edges & 1u << FI_IO_WRITE)
        ev.events |= EPOLLOUT;
    while ((e = epoll_control(ep, op, fd, &ev)) == -ENOENT || e == -EEXIST)
        op = e == -ENOENT ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    return e;
}

void fi_epoll_disarm(fi_epoll *ep, int fd)
{
    struct epoll_event ev = {0};

    epoll_control(ep, EPOLL_CTL_DEL, fd, &ev);
}

int fi_epoll_add_ring(fi_epoll *ep, int ring)
{
    struct epoll_event ev = {.events = EPOLLIN | EPOLLET, .data.u64 = (uint32_t)FI_IO_RING};

    return epoll_control(ep, EPOLL_CTL_ADD, ring, &ev);
}

/* ---- waiting ---- */

static int epoll_wait_ms(const fi_epoll *ep, struct epoll_event *ev, int ms)
{
    return epoll_wait(ep->fd, ev, FI_IO_EVENTS, ms);
}

/* Milliseconds are too coarse for timers, so epoll_wait is only the fallback.  A container may
 * refuse a call that it does not know with any error.  Only EINTR is not a refusal.  If the
 * descriptor is the reason, epoll_wait fails as well. */
static int epoll_wait_ns(fi_epoll *ep, struct epoll_event *ev, int64_t deadline_ns)
{
#if defined SYS_epoll_pwait2 && defined __LP64__
    if (!fi_load_relaxed(&ep->ms_only)) {
        int64_t ns = fi_clock_left(deadline_ns);
        struct timespec t = {.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};
        long n = syscall(SYS_epoll_pwait2, ep->fd, ev, FI_IO_EVENTS, &t, NULL, (size_t)0);
        if (n >= 0 || errno == EINTR)
            return (int)n;
        fi_store_relaxed(&ep->ms_only, 1u);
    }
#endif
    return epoll_wait_ms(ep, ev, fi_clock_left_ms(deadline_ns));
}

static int epoll_wait_until(fi_epoll *ep, struct epoll_event *ev, int64_t deadline_ns)
{
    if (deadline_ns == FI_POLL_NOW || deadline_ns == FI_FUTEX_FOREVER)
        return epoll_wait_ms(ep, ev, deadline_ns == FI_POLL_NOW ? 0 : -1);
    return epoll_wait_ns(ep, ev, deadline_ns);
}

/* A signal is not an error.  Any other error would repeat for ever. */
static int check_wait(int n)
{
    if (n < 0 && errno != EINTR)
        fi_fatal("epoll_wait: %s%s", strerror(errno),
                 errno == EBADF || errno == EINVAL ? "; the program closed a descriptor of Filch"
                                                   : "");
    return n < 0 ? 0 : n;
}

static void clear_interrupt(const fi_epoll *ep)
{
    uint64_t n;
    ssize_t r = read(ep->interrupt_fd, &n, sizeof n);

    (void)r;
}

static fi_io_event event_from_epoll(const struct epoll_event *ev)
{
    const uint32_t closed = EPOLLHUP | EPOLLERR;
    fi_io_event e = {.fd = (int)(uint32_t)ev->data.u64,
                     .generation = (uint32_t)(ev->data.u64 >> 32)};

    e.readable = (ev->events & (EPOLLIN | EPOLLPRI | EPOLLRDHUP | closed)) != 0;
    e.writable = (ev->events & (EPOLLOUT | closed)) != 0;
    e.hup_or_urgent = (ev->events & (EPOLLPRI | EPOLLRDHUP | closed)) != 0;
    return e;
}

int fi_epoll_wait(fi_epoll *ep, fi_io_event *events, int64_t deadline_ns)
{
    struct epoll_event ev[FI_IO_EVENTS];
    int n = check_wait(epoll_wait_until(ep, ev, deadline_ns)), told = 0;

    for (int i = 0; i < n; i++) {
        if (ev[i].data.u64 != INTERRUPT)
            events[told++] = event_from_epoll(&ev[i]);
        else if (deadline_ns != FI_POLL_NOW)
            clear_interrupt(ep);
    }
    return told;
}

/* The write cannot fail: the counter does not overflow. */
void fi_epoll_interrupt(fi_epoll *ep)
{
    uint64_t one = 1;
    ssize_t r = write(ep->interrupt_fd, &one, sizeof one);

    (void)r;
}
