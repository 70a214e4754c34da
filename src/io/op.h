/* A call that may have to wait: tried until the system does not say any more that it would block. */
#ifndef FI_IO_OP_H
#define FI_IO_OP_H

#include "io/fd_table.h"

#include <errno.h>
#include <sys/types.h>

/* What n counts, if with less of it the call would do less, but nothing else. */
typedef enum fi_io_op_unit {
    FI_IO_OP_NO_UNIT,
    FI_IO_OP_BYTES,
    FI_IO_OP_VECTORS,
    FI_IO_OP_MESSAGE /* there is no n: buf is a struct msghdr */
} fi_io_op_unit;

typedef struct fi_io_op fi_io_op;

/* What is the same for all calls of a kind. */
typedef struct fi_io_op_kind {
    const char *what; /* for messages: what a fiber waits for */
    /* Returns the result of the call, or -errno.  Blocks if the descriptor is in blocking mode. */
    ssize_t (*attempt)(fi_io_op *c);
    /* The same for a descriptor that Filch did not open.  Does not block in any mode.  Returns
     * FI_NOWAIT_NONE (io/nowait.h) if this file has no such call.  NULL: no file has one. */
    ssize_t (*attempt_nowait)(fi_io_op *c);
    bool never_a_file;
} fi_io_op_kind;

struct fi_io_op {
    const fi_io_op_kind *kind;
    int fd;
    int direction; /* in which it waits */
    int64_t deadline;
    /* Its arguments, as far as it has any. */
    void *buf;
    size_t n;
    fi_io_op_unit unit;
    void *more;
    int flags;
    size_t asked;    /* bytes; less than so many say that there are no more.  0: they do not */
    bool not_socket; /* known, or found out by the attempt */
    bool has_begun;  /* on a fiber, with a file of this generation */
    uint32_t generation;
    fi_fd *on;         /* on a fiber: what is known of the descriptor */
    fi_worker *inside; /* its system call may be made (io/syscall_guard.h) */
};

/* [any] */
ssize_t fi_io_op_run(fi_io_op *c);

/* [fiber, before a call that may not have to wait] Let others run now and then. */
void fi_io_yield_in_turn(void);

/* [any] One of its attempts, once; with bad luck only a part of it.  chaos_io.c */
#ifdef FILCH_CHAOS
ssize_t fi_chaos_io_attempt(fi_io_op *c, ssize_t (*attempt)(fi_io_op *c));
#else
static inline ssize_t fi_chaos_io_attempt(fi_io_op *c, ssize_t (*attempt)(fi_io_op *c))
{
    return attempt(c);
}
#endif

/* [any] Regular files are for spare threads: no call on them says that it would block. */
bool fi_io_is_file(int fd);

/* [any] Have this done by a spare thread; what it returns, or -ENOMEM: there is none. */
ssize_t fi_io_op_offload(fi_io_op *c, ssize_t (*attempt)(fi_io_op *c));

/* [any, right after a system call] */
static inline ssize_t fi_syscall_result(ssize_t n)
{
    return n < 0 ? -errno : n;
}

#endif
