/* What tells that a descriptor is ready.  epoll.c; another one has the same calls.
 *
 * It tells of edges: that something came since it last told, or since the descriptor was armed. */
#ifndef FI_IO_BACKEND_H
#define FI_IO_BACKEND_H

#include "base/atomic.h"

#include <stdbool.h>
#include <stdint.h>

#define FI_IO_EVENTS 64 /* told at once, at the most */

enum { FI_IO_READ, FI_IO_WRITE };

typedef struct fi_io_event {
    int fd;
    uint32_t generation; /* as it was armed with */
    bool readable, writable;
    bool
        restless; /* the other side ended, an error, or something urgent: from now on a short read says nothing */
} fi_io_event;

typedef struct fi_backend {
    int epoll, interrupt;
    FI_ATOMIC(uint32_t) ms_only; /* not 0: epoll_pwait2 was refused */
} fi_backend;

/* [any] 0, or -errno. */
int fi_backend_init(fi_backend *b);
void fi_backend_fini(fi_backend *b);

/* [any] Tell of these edges of the descriptor from now on (a set of 1 << FI_IO_READ, 1 << FI_IO_WRITE), and once if it is
 * ready already.  known: it was armed before, so much as we know.
 * 0; -EPERM: it cannot be polled; -EBADF; -ENOMEM; -ENOSPC. */
int fi_backend_arm(fi_backend *b, int fd, uint32_t generation, unsigned edges, bool known);
void fi_backend_disarm(fi_backend *b, int fd);

/* [any] What has come, up to FI_IO_EVENTS; how many.  FI_POLL_NOW as the deadline: do not wait.  Who waits, one at a
 * time, may also be interrupted; 0: that, or the deadline, or no reason. */
int fi_backend_wait(fi_backend *b, fi_io_event *events, int64_t deadline_ns);
void fi_backend_interrupt(fi_backend *b);

#endif
