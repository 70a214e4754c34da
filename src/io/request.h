/* What the kernel was asked to do by a ring: wait for a descriptor, or receive from it.
 *
 * A request stands on the stack of its fiber, and so may what it receives into.  So the fiber goes on only after the
 * kernel is done with it: at the deadline, when the fiber is cancelled or the descriptor closed, the request is cancelled
 * as well, and its end is waited for.  If bytes came first, they are what the call returns.
 *
 *     who waits                                who takes what was done
 *     1. under the latch: into the list of     under the latch:
 *        the descriptor                          done, out of the list, out of the line
 *     2. ask the kernel                        wake it
 *     3. under the latch: done?  closed?       who closes, under the latch: all are closed
 *        else stand in line                    cancels them, and waits until there are none
 *
 * Who closes may cancel before step 2, in vain; then step 3 sees that it is closed, and cancels again.
 *
 * The kernel may end a request of its own will, when the thread that handed it over has ended: it is made again. */
#ifndef FI_IO_REQUEST_H
#define FI_IO_REQUEST_H

#include "io/fds.h"
#include "io/ring.h"

#include <sys/types.h>

/* All under the latch of the descriptor. */
typedef struct fi_request fi_request;
struct fi_request {
    fi_fd *fd;
    fi_request *next, **link; /* of the same descriptor */
    fi_line line;             /* its fiber */
    int32_t result;
    uint8_t edges; /* for which it waits */
    bool done;
    bool closed; /* who closes the descriptor has cancelled it */
};

/* [fiber] Wait for these events of poll(2).  0: try again; else -errno. */
int fi_request_poll(fi_io *io, fi_fd *f, const fi_fd_view *v, const fi_fd_wait *w, short events);

/* [fiber] Receive from a socket, when there is something.  How many bytes; -EAGAIN: try again; -errno. */
ssize_t fi_request_receive(fi_io *io, fi_fd *f, const fi_fd_view *v, const fi_fd_wait *w, void *buf,
                           size_t n);

/* [worker] This was done. */
void fi_request_finish(const fi_ring_done *done);

/* [any] All requests for the descriptor end, soon, with -ECANCELED. */
void fi_request_cancel_all(fi_io *io, fi_fd *f);

#endif
