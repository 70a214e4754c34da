/* Attempts on descriptors that Filch did not open.  These may be in blocking mode.  The mode is not
 * changed, because other processes may share it (io/nowait.h). */
#ifndef FI_IO_FOREIGN_H
#define FI_IO_FOREIGN_H

#include "io/op.h"

/* [fiber, or a thread that may block] Make the system call without blocking the worker.
 * Returns its result, -EAGAIN if it would block, or -errno. */
ssize_t fi_foreign_attempt(fi_io_op *op);

#endif
