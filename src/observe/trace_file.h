/* The files that traces go to. */
#ifndef FI_OBSERVE_TRACE_FILE_H
#define FI_OBSERVE_TRACE_FILE_H

#include "observe/output.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The user's request, with the names for this process and runtime. */
typedef struct fi_trace_file {
    char path[PATH_MAX - 64]; /* so that there is room for what is added */
    fi_output output;         /* with the path that was written last */
} fi_trace_file;

/* [any] %p in the wish is the number of the process, %% a percent sign.  If the file would be that
 * of the parent process or of an earlier runtime, a number is put into its name, unless it is not a
 * regular file.  0, or -errno after a line. */
int fi_trace_file_name(fi_trace_file *f, const char *wish, pid_t pid, pid_t first,
                       uint64_t runtime);

/* [owner] Let write(ctx, fd) write it.  word: is put into the name of a regular file; NULL: none.
 * 0, or -errno after a line. */
int fi_trace_file_write(fi_trace_file *f, const char *word, int (*write)(void *ctx, int fd),
                        void *ctx);

#endif
