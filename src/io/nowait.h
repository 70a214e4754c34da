/* Calls that do not block on a descriptor in blocking mode.
 *
 * A descriptor that Filch did not open may be shared: a program's standard input is also its shell's, and O_NONBLOCK
 * belongs to what both share.  So Filch does not set it, but asks each single call not to wait: MSG_DONTWAIT for
 * sockets, RWF_NOWAIT for pipes and some others.  Terminals and FIFOs are opened again for the length of the call, in
 * non-blocking mode, which only the new open file description has.  Others have no such call, and are for spare threads
 * (docs/decisions/011-file-status-flags.md). */
#ifndef FI_IO_NOWAIT_H
#define FI_IO_NOWAIT_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/uio.h>

/* Not an errno: this file has no such call, and nothing was done. */
#define FI_NOWAIT_NONE (-4096)

/* [any] The number of bytes, -EAGAIN when the call would block, FI_NOWAIT_NONE, or -errno.  A write to a socket raises
 * no signal. */
ssize_t fi_nowait_readv(int fd, const struct iovec *v, int n);
ssize_t fi_nowait_writev(int fd, const struct iovec *v, int n);

/* [any] */
bool fi_nowait_is_terminal(int fd);
bool fi_nowait_is_fifo(int fd);

/* [any] Is it in non-blocking mode, so that every call says -EAGAIN? */
bool fi_nowait_is_set(int fd);

/* [any] Would poll(2) report one of these events, or an error, at once? */
bool fi_nowait_is_ready(int fd, short events);

#endif
