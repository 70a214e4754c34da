/* A call that may have to wait: tried until the system does not say any more that it would block. */
#ifndef FI_IO_CALL_H
#define FI_IO_CALL_H

#include "io/fds.h"

#include <errno.h>
#include <sys/types.h>

/* What n counts, if with less of it the call would do less, but nothing else. */
typedef enum fi_call_of {
    FI_CALL_OF_NOTHING,
    FI_CALL_OF_BYTES,
    FI_CALL_OF_VECTORS,
    FI_CALL_OF_MESSAGE /* there is no n: buf is a struct msghdr */
} fi_call_of;

typedef struct fi_call fi_call;

/* What is the same for all calls of a kind. */
typedef struct fi_call_kind {
    const char *what; /* for messages: what a fiber waits for */
    /* Returns the result of the call, or -errno.  Blocks if the descriptor is in blocking mode. */
    ssize_t (*attempt)(fi_call *c);
    /* The same for a descriptor that Filch did not open.  Does not block in any mode.  Returns
     * FI_NOWAIT_NONE (io/nowait.h) if this file has no such call.  NULL: no file has one. */
    ssize_t (*attempt_nowait)(fi_call *c);
    bool never_a_file;
} fi_call_kind;

struct fi_call {
    const fi_call_kind *kind;
    int fd;
    int direction; /* in which it waits */
    int64_t deadline;
    /* Its arguments, as far as it has any. */
    void *buf;
    size_t n;
    fi_call_of n_of;
    void *more;
    int flags;
    size_t asked;   /* bytes; less than so many say that there are no more.  0: they do not */
    bool no_socket; /* known, or found out by the attempt */
    bool has_begun; /* on a fiber, with a file of this generation */
    uint32_t generation;
    fi_fd *on;         /* on a fiber: what is known of the descriptor */
    fi_worker *inside; /* its system call may be made (io/calling.h) */
};

/* [any] */
ssize_t fi_call_run(fi_call *c);

/* [fiber, before a call that may not have to wait] Let others run now and then. */
void fi_call_be_fair(void);

/* [any] One of its attempts, once; with bad luck only a part of it.  luck.c */
#ifdef FILCH_CHAOS
ssize_t fi_call_attempt(fi_call *c, ssize_t (*attempt)(fi_call *c));
#else
static inline ssize_t fi_call_attempt(fi_call *c, ssize_t (*attempt)(fi_call *c))
{
    return attempt(c);
}
#endif

/* [any] Regular files are for spare threads: no call on them says that it would block. */
bool fi_call_is_on_file(int fd);

/* [any] Have this done by a spare thread; what it returns, or -ENOMEM: there is none. */
ssize_t fi_call_on_spare(fi_call *c, ssize_t (*attempt)(fi_call *c));

/* [any, right after a system call] */
static inline ssize_t fi_call_result(ssize_t n)
{
    return n < 0 ? -errno : n;
}

#endif
