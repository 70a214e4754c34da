/* A descriptor: its state, and the operations that wait for it.
 *
 * An operation makes its system call first, and waits if the kernel reports that the call would
 * block.  Events that arrive in between are counted as edges, so that none is lost:
 *
 *     operation (op.c)                           notifier (fi_fd_notify)
 *     1. under the lock: record the edge count   under the lock:
 *     2. make the system call; it would block      increment the edge count
 *     3. under the lock: arm the descriptor,       remove all waiters
 *        unless it is armed                      wake them
 *     4. under the same lock: if the edge
 *        count has changed, go to 1;
 *        else enqueue
 *
 * Step 4 finds an edge that arrives after step 1.  The system call of step 2 finds the cause of an
 * edge that arrives before step 1.
 *
 * A short read (fewer bytes than requested) drains a pipe or a TCP socket: there is nothing left to
 * read.  The next read then skips step 2, so a server needs one read and one write per request.
 * This ends when the peer closes the connection or sends urgent data.
 *
 * A descriptor that Filch opened stays the same file until filch_close, so it is armed once.  Any
 * other number may belong to another file each time, so it is armed again before each wait.  Each
 * file that has had the number is a generation, and events of earlier generations are ignored.  A
 * number is not closed during a system call on it (io/syscall_guard.h). */
#ifndef FI_IO_FD_H
#define FI_IO_FD_H

#include "io/epoll.h"
#include "wait/waitq.h"

typedef struct fi_io fi_io;

typedef struct fi_fd {
    fi_biased_lock lock;            /* guards all fields but drained_at */
    fi_waitq waiters[2];            /* by direction */
    uint32_t edges[2];              /* count of edges, of all generations */
    FI_ATOMIC(uint32_t) drained_at; /* count of read edges when a short read drained it */
    uint32_t generation;            /* count of files that have had this number */
    uint8_t armed;                  /* set of directions; set before epoll_ctl is called */
    bool opened_by_us;              /* by a call of Filch */
    bool short_read_drains;         /* a pipe or a TCP socket */
    bool hup_or_urgent;             /* since this event, short reads do not drain it */
    bool not_socket;                /* known not to be a socket */
    bool is_file;                   /* opened by filch_open: regular, directory or block device */
    bool is_direct;                 /* such a file, with O_DIRECT */
    bool closing;                   /* filch_close is closing the number */
    uint32_t n_offloaded;           /* system calls that blocking threads are making */
    fi_waitq closers;               /* filch_close waits here until n_offloaded is 0 */
} fi_fd;

/* [any] Never biased: notifiers and waiters are mostly different workers. */
static inline void fi_fd_lock(fi_fd *f)
{
    fi_obj_lock_second(&f->lock);
}

static inline void fi_fd_unlock(fi_fd *f)
{
    fi_obj_unlock(&f->lock);
}

/* [worker] Count the edges of an event, and wake the waiters. */
void fi_fd_notify(fi_fd *f, const fi_io_event *ev);

/* [fiber, lock held, released here] The file of this generation cannot be armed.  Wake all
 * waiters, so that each of them finds the error itself. */
void fi_fd_arm_failed(fi_io *io, fi_fd *f, uint32_t generation);

/* [blocking thread] Keep the number from being closed during a system call that may take long.
 * Returns false if the number belongs to another file now. */
bool fi_fd_begin_offload(fi_fd *f, uint32_t generation);
void fi_fd_end_offload(fi_fd *f);

/* [any] A call has found that the file of this generation is not a socket. */
void fi_fd_set_not_socket(fi_fd *f, uint32_t generation);

/* [any] Filch has opened a file with this number.  A regular file is not opened_by_us, because no
 * call on it reports that it would block. */
typedef struct fi_fd_kind {
    bool short_read_drains, not_socket, is_file, is_direct;
} fi_fd_kind;
void fi_fd_open(fi_io *io, fi_fd *f, fi_fd_kind kind);

/* [any] Call these before and after close(2).  All waits end with -ECANCELED. */
uint32_t fi_fd_begin_close(fi_io *io, fi_fd *f, int fd);
void fi_fd_end_close(fi_fd *f, uint32_t generation);

#endif
