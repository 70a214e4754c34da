/* What Filch opens itself. */
#ifndef FI_IO_OPEN_H
#define FI_IO_OPEN_H

#include "io/fds.h"

/* [any] This was just opened, by us.  Where nobody could wait for it yet, nothing has to be known; it is then as
 * one from elsewhere. */
void fi_open_note(int fd, fi_fd_kind kind);

/* [any] Is a short read from it the end of what is there? */
bool fi_open_drains(int fd);

#endif
