/* What tells that a descriptor is ready.  epoll.c; another one has the same calls.
 *
 * It tells of edges: that something came since it last told, or since the descriptor was armed. */
#ifndef FI_IO_EPOLL_H
#define FI_IO_EPOLL_H

#include "base/atomic.h"

#include <stdbool.h>
#include <stdint.h>

#define FI_IO_EVENTS 64 /* told at once, at the most */

enum { FI_IO_READ, FI_IO_WRITE, FI_IO_BOTH }; /* directions */

typedef struct fi_io_event {
    int fd;
    uint32_t generation; /* as it was armed with */
    bool readable, writable;
    bool
        hup_or_urgent; /* the other side ended, an error, or something urgent: from now on a short read says nothing */
} fi_io_event;

typedef struct fi_epoll {
    int fd, interrupt_fd;
    FI_ATOMIC(uint32_t) ms_only; /* not 0: epoll_pwait2 was refused */
} fi_epoll;

/* [any] 0, or -errno. */
int fi_epoll_init(fi_epoll *ep);
void fi_epoll_fini(fi_epoll *ep);

/* [any] Tell of these edges of the descriptor from now on (a set of 1 << FI_IO_READ, 1 << FI_IO_WRITE), and once if it is
 * ready already.  known: it was armed before, so much as we know.
 * 0; -EPERM: it cannot be polled; -EBADF; -ENOMEM; -ENOSPC. */
int fi_epoll_arm(fi_epoll *ep, int fd, uint32_t generation, unsigned edges, bool known);
void fi_epoll_disarm(fi_epoll *ep, int fd);

/* [any] What has come, up to FI_IO_EVENTS; how many.  FI_POLL_NOW as the deadline: do not wait.  Who waits, one at a
 * time, may also be interrupted; 0: that, or the deadline, or no reason. */
int fi_epoll_wait(fi_epoll *ep, fi_io_event *events, int64_t deadline_ns);
void fi_epoll_interrupt(fi_epoll *ep);

#endif
