/* The files that traces go to. */
#ifndef FI_OBSERVE_TRACE_FILE_H
#define FI_OBSERVE_TRACE_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* As the user wished, made fit for this process and runtime.  It is written by one at a time; who calls exit() may have little stack. */
typedef struct fi_trace_file {
    char path[PATH_MAX - 64]; /* so that there is room for what is added */
    char target[PATH_MAX];    /* where it was last written to */
    char temporary[PATH_MAX + 16];
} fi_trace_file;

/* [any] %p in the wish is the number of the process, %% a percent sign.  Where the file would be that of a process that this one was forked
 * from, or of a runtime before this one, a number is put into its name.  0; -ENAMETOOLONG. */
int fi_trace_file_name(fi_trace_file *f, const char *wish, pid_t pid, pid_t first,
                       uint64_t runtime);

/* [owner] Can it be written?  0 or -errno. */
int fi_trace_file_try(fi_trace_file *f);

/* [owner] Let write(ctx, fd) write it, with a word in its name (NULL: none).  The file is there when it is whole, and takes the place of
 * one of that name.  0 or -errno. */
int fi_trace_file_write(fi_trace_file *f, const char *word, int (*write)(void *ctx, int fd),
                        void *ctx);

#endif
