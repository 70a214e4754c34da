/* Reads of files by io_uring, by its raw system calls.  Each runtime has one ring.  It is made by
 * the first read that needs it.  Its descriptor is ready in epoll when reads have completed. */
#ifndef FI_IO_RING_H
#define FI_IO_RING_H

#include "base/atomic.h"
#include "base/lock.h"
#include "io/io.h"
#include "io/op.h"

#include <stddef.h>
#include <stdint.h>

typedef FI_ATOMIC(uint32_t) fi_ring_index; /* shared with the kernel */

struct io_uring_sqe;
struct io_uring_cqe;

struct fi_ring {
    int fd;       /* -1: there is no io_uring */
    fi_lock lock; /* guards the submission tail, the completion head and the counter */
    fi_ring_index *submit_tail, *complete_head, *complete_tail;
    uint32_t submit_mask, complete_mask;
    struct io_uring_sqe *submissions;
    struct io_uring_cqe *completions;
    void *queues;
    size_t queues_size, submissions_size;
    uint32_t n_running, n_running_max;
};

/* [fiber, in a request (fi_io_op_begin_request)] Read op->n bytes at op->offset.  Leaves the
 * syscall guard.  Returns the number of bytes, or -errno: nothing was read. */
ssize_t fi_ring_read(fi_io_op *op);

/* [worker] Wake the fibers whose reads have completed. */
void fi_ring_reap(fi_io *io);

/* [when no reads run] */
void fi_ring_free(fi_ring *r);

#endif
