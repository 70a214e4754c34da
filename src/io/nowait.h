/* Calls that do not block on a descriptor in blocking mode.
 *
 * A descriptor that Filch did not open may be shared.  For example, a program shares its standard
 * input with its shell, and O_NONBLOCK belongs to the shared open file description.  So Filch does
 * not set it, but makes each single call non-blocking: MSG_DONTWAIT for sockets, RWF_NOWAIT for
 * pipes and some others.  Terminals and FIFOs are opened again for the duration of the call, and
 * only the new open file description is non-blocking.  Other files have no such call, and are left
 * to the blocking pool (docs/decisions/011-file-status-flags.md). */
#ifndef FI_IO_NOWAIT_H
#define FI_IO_NOWAIT_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/uio.h>

/* Not an errno: the file does not support such a call, and nothing was done. */
#define FI_NOWAIT_NONE (-4096)

/* [any] The number of bytes, -EAGAIN when the call would block, FI_NOWAIT_NONE, or -errno.  A
 * write to a socket raises no signal. */
ssize_t fi_nowait_readv(int fd, const struct iovec *v, int n);
ssize_t fi_nowait_writev(int fd, const struct iovec *v, int n);

/* [any] */
bool fi_nowait_is_terminal(int fd);
bool fi_nowait_is_fifo(int fd);

/* [any] Is it in non-blocking mode, so that a call that would wait returns -EAGAIN? */
bool fi_nowait_is_set(int fd);

/* A turn at a descriptor in blocking mode.  A call that would not block according to poll(2)
 * does block if another call takes all that is there first.  So threads make such calls one at
 * a time, and call poll(2) when they have the turn. */
typedef struct fi_nowait_turn fi_nowait_turn;
struct fi_nowait_turn {
    int fd;
    short events;
    fi_nowait_turn *next;
};

/* [thread that may block] Wait for the turn.  False: the descriptor is not ready, and there is
 * no turn to end. */
bool fi_nowait_begin_turn(fi_nowait_turn *t, int fd, short events);
void fi_nowait_end_turn(fi_nowait_turn *t);

/* [any] Would poll(2) report one of these events, or an error, at once? */
bool fi_nowait_is_ready(int fd, short events);

#endif
