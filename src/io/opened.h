/* Descriptors that Filch opened. */
#ifndef FI_IO_OPENED_H
#define FI_IO_OPENED_H

#include "io/fd_table.h"
#include "io/op.h"

/* [any] Record that Filch has just opened this descriptor.  If that is not possible, because no
 * runtime runs or there is no memory, it is treated as a foreign descriptor. */
void fi_opened_register(int fd, fi_fd_kind kind);

/* [any] Was it opened by Filch, and does a short read drain it? */
bool fi_opened_short_read_drains(int fd);

/* [any] Run an operation on a descriptor that was just opened for it, and close that. */
ssize_t fi_opened_run(fi_io_op *op);

#endif
