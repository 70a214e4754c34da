/* Descriptors: what is known of each, and who waits for it.
 *
 * A call is tried first, and waits when the system says that it would block.  Nothing that comes in between is lost:
 *
 *     who waits                                who tells of an edge
 *     1. under the lock: how many edges       under the lock:
 *        have come?                              one edge more
 *     2. try the call; it would block            take all out of the waiters
 *     3. arm the descriptor, unless it is      wake them
 *     4. under the lock: as many as before?
 *        stand in waiters; else from the start
 *
 * An edge after step 1 is seen in step 4.  One before step 1 is no matter: what it told of was there for step 2.
 *
 * A read that brings less than was asked for says that there is no more; then the next one may begin with step 3, and a
 * server's fiber costs one read and one write for each request.  This holds for pipes and TCP, until the other side ends.
 *
 * Numbers.  What Filch has opened is Filch's until filch_close: it is armed once.  Any other number may be another file
 * each time we see it: it is armed anew before each wait.  What is told of a file that is closed by now has an
 * older generation.  A number is not closed while a system call is made on it (io/syscall_guard.h).
 */
#ifndef FI_IO_FD_TABLE_H
#define FI_IO_FD_TABLE_H

#include "io/epoll.h"
#include "sched/wait.h"

typedef struct fi_io fi_io;

/* All under the lock but what is atomic. */
typedef struct fi_fd {
    fi_biased_lock lock;
    fi_line waiters[2]; /* for reading and for writing */
    uint32_t edges[2];  /* how many have come, of this file or earlier ones */
    FI_ATOMIC(uint32_t)
    drained_at;             /* so many edges had come when a read found the end of what was there */
    uint32_t generation;    /* how many files had this number */
    uint8_t armed;          /* for which edges; or about to be */
    bool opened_by_us;      /* opened here */
    bool short_read_drains; /* a short read says that there is no more */
    bool hup_or_urgent;     /* but not any more */
    bool not_socket;
    bool closing;         /* the number is being closed, just now */
    uint32_t n_offloaded; /* calls that spare threads make, just now */
    fi_line closers;      /* who waits until there are none */
} fi_fd;

/* Each chunk is as large as all before it, so none ever moves. */
#define FI_FD_TABLE_FIRST  256
#define FI_FD_TABLE_CHUNKS 24
typedef struct fi_fd_table {
    FI_ATOMIC(fi_fd *) chunks[FI_FD_TABLE_CHUNKS];
} fi_fd_table;

/* [when nobody uses it] */
void fi_fd_table_fini(fi_fd_table *t);

/* [any] What is known of this number.  -EBADF: there cannot be anything; -ENOMEM.
 * fi_fd_table_find: NULL, if nothing. */
int fi_fd_table_get(fi_fd_table *t, int fd, fi_fd **out);
fi_fd *fi_fd_table_find(fi_fd_table *t, int fd);

/* [worker] This has come. */
void fi_fd_table_dispatch(fi_fd_table *t, const fi_io_event *ev);
void fi_fd_notify(fi_fd *f, const fi_io_event *ev);

/* What it was like, for a call in this direction. */
typedef struct fi_fd_state {
    uint32_t edges, generation;
    bool opened_by_us, drained, pollable, not_socket;
    bool closing; /* what was seen was about to go */
} fi_fd_state;
fi_fd_state fi_fd_snapshot(fi_fd *f, int direction);

/* [fiber on w] The same, and unless it is being closed, or drained and that is a reason not to call, we are inside: the number is not
 * closed before fi_fd_leave (io/syscall_guard.h), until which the fiber must not wait.  False: we are not. */
bool fi_fd_enter(fi_fd *f, int direction, bool even_drained, fi_worker *w, fi_fd_state *v);
void fi_fd_leave(fi_worker *w);

/* [spare thread] The same for a call that takes long.  False: it is another file by now. */
bool fi_fd_begin_offload(fi_fd *f, uint32_t generation);
void fi_fd_end_offload(fi_fd *f);

/* [fiber] Step 3 and 4.  The view: step 1.  0: try again; else -errno. */
typedef struct fi_fd_wait {
    int fd, direction;
    const char *what;
    int64_t deadline;
} fi_fd_wait;
int fi_fd_await(fi_io *io, fi_fd *f, const fi_fd_state *v, const fi_fd_wait *w);

/* [fiber] The same in both directions at once, with a view of each. */
int fi_fd_await_both(fi_io *io, fi_fd *f, const fi_fd_state v[2], const fi_fd_wait *w);

/* [any] What was learned from a call: a read, begun at this view, found the end of what was there; it is no socket. */
void fi_fd_set_drained(fi_fd *f, const fi_fd_state *v);
void fi_fd_set_not_socket(fi_fd *f, const fi_fd_state *v);

/* [any] The number is a file's that Filch has just opened. */
typedef struct fi_fd_kind {
    bool short_read_drains, not_socket;
} fi_fd_kind;
void fi_fd_open(fi_io *io, fi_fd *f, fi_fd_kind kind);

/* [any] Before the number is closed, and after it: all waits end with -ECANCELED. */
uint32_t fi_fd_begin_close(fi_io *io, fi_fd *f, int fd);
void fi_fd_end_close(fi_fd *f, uint32_t generation);

#endif
