/* An I/O operation: a system call that is repeated until the kernel does not report that it would
 * block.  fi_io_op_run is the only entry.  On a fiber it repeats three steps (op.c):
 *
 *     begin   lock the descriptor and record its state
 *     try     make the system call, under the syscall guard
 *     wait    enqueue, unless the state has changed since begin
 *
 * On a thread that is not a worker it waits in poll(2). */
#ifndef FI_IO_OP_H
#define FI_IO_OP_H

#include "base/chaos.h"
#include "io/fd.h"

#include <errno.h>
#include <poll.h>
#include <sys/types.h>

/* The unit of n, if the operation may be done in part. */
typedef enum fi_io_op_unit {
    FI_IO_OP_NO_UNIT,
    FI_IO_OP_BYTES,
    FI_IO_OP_VECTORS,
    FI_IO_OP_MESSAGE /* n is not used; buf is a struct msghdr */
} fi_io_op_unit;

typedef struct fi_io_op fi_io_op;

typedef ssize_t fi_io_attempt(fi_io_op *op);

typedef struct fi_io_op_kind {
    const char *name; /* in messages: what the fiber waits for */
    /* Make the system call.  Returns its result or -errno.  Blocks if the descriptor is in blocking
     * mode. */
    fi_io_attempt *attempt;
    /* The same for a descriptor that Filch did not open.  Never blocks.  Returns FI_NOWAIT_NONE
     * (io/nowait.h) if the file does not support such a call.  NULL: no file does. */
    fi_io_attempt *attempt_nowait;
    bool never_a_file; /* the call fails on regular files */
    bool reads_file;   /* the call reads n bytes at the offset into buf */
} fi_io_op_kind;

struct fi_io_op {
    /* Set by the caller. */
    const fi_io_op_kind *kind;
    int fd;
    int direction; /* FI_IO_READ, FI_IO_WRITE or FI_IO_BOTH */
    int64_t deadline;
    void *buf; /* the arguments of the system call, as far as it has them */
    size_t n;
    fi_io_op_unit unit;
    void *more;
    off_t offset; /* -1: the position of the file */
    int flags;
    int subject;        /* in messages: what the fiber waits for; 0: the descriptor */
    size_t short_below; /* a positive result below this is a short read; 0: none is */

    /* Set by op.c; zero at the start. */
    bool has_begun;    /* the generation is set, and stays */
    bool not_socket;   /* known before, or found by the attempt */
    bool opened_by_us; /* the state of the descriptor at begin, as in fi_fd */
    bool is_file, is_direct;
    bool was_armed;
    bool drained; /* nothing to read since a short read: skip the attempt */
    uint32_t generation;
    uint32_t edges[2];
    fi_io *io;
    fi_fd *f;            /* NULL: not on a fiber */
    fi_worker *guarding; /* the worker whose syscall guard is set; NULL: none */
};

/* [any] */
ssize_t fi_io_op_run(fi_io_op *op);

/* [any] Run an attempt on a thread of the blocking pool.  Returns its result, -ECANCELED if the
 * descriptor was closed first, or -ENOMEM if there is no thread. */
ssize_t fi_io_op_offload(fi_io_op *op, fi_io_attempt *attempt);

/* [fiber, during an attempt] Begin a request that is not made by this thread.  The number is not
 * closed until fi_io_op_end_request, and the fiber may park.  Returns false if it was closed. */
bool fi_io_op_begin_request(fi_io_op *op);
void fi_io_op_leave_guard(fi_io_op *op);
void fi_io_op_end_request(fi_io_op *op);

/* [fiber] Make the system call on a regular file: at once if the kernel has the data in memory,
 * else by io_uring or by the blocking pool.  file.c */
ssize_t fi_io_op_attempt_file(fi_io_op *op);

/* [any] Is it a regular file, a directory or a block device?  Calls on these never report that they
 * would block, so they are made by the blocking pool. */
bool fi_io_is_file(int fd);

/* [any] The type of the file, as in struct stat; 0: it is not open.  A file system in the network
 * is not asked. */
mode_t fi_io_file_mode(int fd);

/* [fiber, or a thread that may block] Make the system call on a descriptor that Filch did not open,
 * without blocking the worker.  Returns its result, -EAGAIN if it would block, or -errno.
 * foreign.c */
ssize_t fi_io_op_attempt_foreign(fi_io_op *op);

/* [any] Run an attempt.  In chaos builds it may be shortened.  chaos_io.c */
#ifdef FILCH_CHAOS
ssize_t fi_chaos_io_attempt(fi_io_op *op, fi_io_attempt *attempt);
#else
static inline ssize_t fi_chaos_io_attempt(fi_io_op *op, fi_io_attempt *attempt)
{
    return attempt(op);
}
#endif

/* [any] Run an attempt, and repeat it when a signal interrupts it. */
static inline __attribute__((always_inline)) ssize_t fi_io_op_attempt(fi_io_op *op,
                                                                      fi_io_attempt *attempt)
{
    ssize_t n;

    do
        n = fi_chaos(8) ? -EINTR : fi_chaos_io_attempt(op, attempt);
    while (n == -EINTR);
    return n;
}

/* [any] The events of poll(2) that the operation waits for. */
static inline short fi_io_op_poll_events(const fi_io_op *op)
{
    static const short events[] = {POLLIN, POLLOUT, POLLIN | POLLOUT};

    return events[op->direction];
}

/* [any, right after a system call] */
static inline ssize_t fi_syscall_result(ssize_t n)
{
    return n < 0 ? -errno : n;
}

/* [any] Check the offset of a call of this function.  Returns 0, or -EINVAL after a message.
 * files.c */
int fi_io_check_offset(const char *function, off_t offset);

#endif
