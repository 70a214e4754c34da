/* Writes a file of trace events.  Regular files are written under a temporary name beside the path,
 * and renamed at the end.  So a reader finds the whole file or none.
 *
 * The caller blocks SIGPIPE and SIGXFSZ in its thread: a write to a closed pipe or beyond a limit
 * is then an error, and not the end of the program. */
#ifndef FI_CLUSTER_EVENT_FILE_H
#define FI_CLUSTER_EVENT_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct fi_event_file {
    int fd;
    int error; /* the first -errno, or 0; after an error nothing is written */
    bool is_special, has_events;
    size_t n;
    char path[PATH_MAX], temporary[PATH_MAX + 32];
    char buffer[(size_t)1 << 16];
} fi_event_file;

/* Returns: 0 or -errno. */
int fi_event_file_open(fi_event_file *f, const char *path);

/* Write the rest, close and rename.  With an earlier error, the temporary file is removed.
 * Returns: 0, or the first -errno. */
int fi_event_file_close(fi_event_file *f);

/* Write what separates events. */
void fi_event_file_next(fi_event_file *f);

void fi_event_file_bytes(fi_event_file *f, const char *bytes, size_t n);
void fi_event_file_text(fi_event_file *f, const char *text);
void fi_event_file_number(fi_event_file *f, uint64_t n);

/* Nanoseconds as microseconds with three decimals. */
void fi_event_file_us(fi_event_file *f, int64_t ns);

#endif
