/* What Filch opens itself. */
#ifndef FI_IO_OPENED_H
#define FI_IO_OPENED_H

#include "io/fd_table.h"

/* [any] This was just opened, by us.  Where nobody could wait for it yet, nothing has to be known; it is then as
 * one from n_offloaded. */
void fi_opened_register(int fd, fi_fd_kind kind);

/* [any] Is a short read from it the end of what is there? */
bool fi_opened_short_read_drains(int fd);

#endif
