/* Readiness of descriptors, by edge-triggered epoll.  An edge reports that something arrived
 * since the last report, or since the descriptor was armed. */
#ifndef FI_IO_EPOLL_H
#define FI_IO_EPOLL_H

#include "base/atomic.h"

#include <stdbool.h>
#include <stdint.h>

#define FI_IO_EVENTS 64 /* max. events of one wait */

enum { FI_IO_READ, FI_IO_WRITE, FI_IO_BOTH }; /* directions */

typedef struct fi_io_event {
    int fd;
    uint32_t generation; /* of the call that armed it */
    bool readable, writable;
    bool hup_or_urgent; /* the peer closed the connection, an error, or urgent data */
} fi_io_event;

typedef struct fi_epoll {
    int fd, interrupt_fd;
    FI_ATOMIC(uint32_t) ms_only; /* not 0: the kernel refused epoll_pwait2 */
} fi_epoll;

/* [any] Returns 0 or -errno. */
int fi_epoll_init(fi_epoll *ep);
void fi_epoll_fini(fi_epoll *ep);

/* [any] Report these edges of the descriptor from now on, and one at once if it is ready
 * already. edges: a set of 1 << FI_IO_READ and 1 << FI_IO_WRITE.  known: it seems to be armed
 * already; a wrong value costs a system call. Returns 0; -EPERM: the file cannot be polled;
 * -EBADF; -ENOMEM; -ENOSPC. */
int fi_epoll_arm(fi_epoll *ep, int fd, uint32_t generation, unsigned edges, bool known);
void fi_epoll_disarm(fi_epoll *ep, int fd);

/* [any] Report an edge of the descriptor FI_IO_RING whenever this io_uring completes something. */
#define FI_IO_RING (-2)
int fi_epoll_add_ring(fi_epoll *ep, int ring);

/* [any] Wait for events until the deadline; FI_POLL_NOW: do not wait.  Only one thread at a
 * time may wait, and fi_epoll_interrupt ends its wait. Returns the number of events.  0: an
 * interrupt, the deadline, or a spurious wake-up. */
int fi_epoll_wait(fi_epoll *ep, fi_io_event *events, int64_t deadline_ns);
void fi_epoll_interrupt(fi_epoll *ep);

#endif
