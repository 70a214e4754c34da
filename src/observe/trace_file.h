/* The names of trace files. */
#ifndef FI_OBSERVE_TRACE_FILE_H
#define FI_OBSERVE_TRACE_FILE_H

#include "observe/output.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct fi_trace_file {
    char path[PATH_MAX - 64]; /* leaves space for a suffix */
    fi_output output;         /* its path is that of the last file that was written */
} fi_trace_file;

/* [any] Set the path from FILCH_TRACE.  %p becomes the process ID, and %% a percent sign.  The
 * child of a fork() and a second runtime of the process get a number in the name of a regular file.
 * Returns: 0, or -errno after a line. */
int fi_trace_file_name(fi_trace_file *f, const char *setting, pid_t pid, pid_t first_pid,
                       uint64_t runtime);

/* [owner] Open the output.  The suffix becomes part of the name of a regular file; NULL: no suffix.
 * Close it with fi_output_close.  Returns: a descriptor; -errno after a line. */
int fi_trace_file_open(fi_trace_file *f, const char *suffix);

#endif
