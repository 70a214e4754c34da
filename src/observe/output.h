/* The file that an observer writes its result to: a trace, samples, a profile.
 *
 * It is opened when there is something to write, and closed again.  A descriptor that is kept open until then is not safe in
 * a program that closes all descriptors it does not know: its number may belong to a file of the program by then.
 *
 *     the name                              how it is written
 *     nothing, or a regular file            a new file of another name beside it, which is then renamed.  A reader finds
 *                                           all of it or nothing, no link is followed when it is made, and owner and mode
 *                                           of a file that is replaced are kept
 *     /dev/stdout, /dev/stderr, /dev/fd/N   descriptor N, from where it stands
 *     a FIFO, a terminal, a device          opened without waiting, and written to as it is.  A FIFO without a reader, or
 *                                           with one that does not read, is an error
 *
 * A program is not to fail because it cannot be observed: an error is one line on stderr, and SIGPIPE and SIGXFSZ do not
 * reach the program. */
#ifndef FI_OBSERVE_OUTPUT_H
#define FI_OBSERVE_OUTPUT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Used by one thread at a time.  Its names are in it, as who calls exit() may have little stack. */
typedef struct fi_output {
    const char *setting;   /* that asked for it, for messages */
    char path[PATH_MAX];   /* absolute: the program may change its directory */
    char target[PATH_MAX]; /* what is replaced: the path without symbolic links */
    char temporary[PATH_MAX + 32];
} fi_output;

/* [any] The setting is a constant.  0, or -errno after a line. */
int fi_output_init(fi_output *o, const char *setting, const char *path);

/* [owner] Can it be written?  0, or -errno after a line. */
int fi_output_check(fi_output *o);

/* [owner] Let write(ctx, fd) write all of it.  0, or -errno after a line. */
int fi_output_write(fi_output *o, int (*write)(void *ctx, int fd), void *ctx);

/* [any] Is there something at the path that is not a regular file and that is written to as it is? */
bool fi_output_is_special(const char *path);

/* [called by write] Write all bytes.  0 or -errno. */
int fi_output_put(int fd, const void *bytes, size_t n);

/* [any] The line: it cannot be written, and why. */
void fi_output_complain(const char *setting, const char *path, int e);

#endif
