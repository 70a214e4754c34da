/* The file that an observer writes its result to: a trace, samples, a profile.
 *
 * It is opened when there is something to write, and closed again.  A program may close all
 * descriptors that it does not know.  The number of a descriptor that was kept open could then
 * belong to a file of the program.
 *
 *     the name is                     how it is written
 *     new, or a regular file          to a new file beside it, which is then renamed.  A reader
 *                                     finds all of it or nothing.  No link is followed when the
 *                                     file is made.  A replaced file keeps its owner and mode
 *     /dev/std{out,err}, /dev/fd/N    to that open descriptor, at its current offset
 *     a FIFO, a terminal, a device    opened without waiting, and written to directly.  A FIFO
 *                                     without a reader, or with a stalled one, is an error
 *
 * A program must not fail because it cannot be observed.  So an error is one message, and
 * SIGPIPE and SIGXFSZ do not reach the program. */
#ifndef FI_OBSERVE_OUTPUT_H
#define FI_OBSERVE_OUTPUT_H

#include "observe/file_signals.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum fi_output_kind {
    FI_OUTPUT_DESCRIPTOR, /* an open descriptor of the program */
    FI_OUTPUT_SPECIAL,    /* a FIFO, a terminal, a device */
    FI_OUTPUT_REGULAR,
} fi_output_kind;

/* Used by one thread at a time.  It contains the names, because the thread that calls exit() may
 * have little stack. */
typedef struct fi_output {
    const char *setting;   /* that requested the file, for messages */
    char path[PATH_MAX];   /* absolute: the program may change its directory */
    char target[PATH_MAX]; /* what is replaced: the path without symbolic links */
    char temporary[PATH_MAX + 32];
    int fd; /* this and the following are set while the file is open */
    fi_output_kind kind;
    fi_file_signals signals;
} fi_output;

/* [any] The setting is a string constant.  Returns: 0, or -errno after a line. */
int fi_output_init(fi_output *o, const char *setting, const char *path);

/* [owner] Check that the file can be written.  Returns: 0, or -errno after a line. */
int fi_output_check(fi_output *o);

/* [owner] Open the file and block the signals of writing.  Returns: its descriptor, for
 * fi_output_append; -errno after a line. */
int fi_output_open(fi_output *o);

/* [owner] Close the file.  e is the result of writing it: 0, or -errno.  A regular file appears at
 * its path only if e is 0.  Returns: 0, or -errno after a line. */
int fi_output_close(fi_output *o, int e);

/* [any] Is the path an open descriptor, or a file that is not regular? */
bool fi_output_is_special(const char *path);

/* [any] Write all bytes.  Returns: 0 or -errno. */
int fi_output_append(int fd, const void *bytes, size_t n);

/* [any] Write the error line for a file that cannot be written. */
void fi_output_error(const char *setting, const char *path, int e);

#endif
