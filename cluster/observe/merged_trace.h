/* Merges the trace files of all ranks into one, on rank 0.
 *
 *     fi_merged_trace *m;
 *     int e = fi_merged_trace_open(&m, path, ranks);
 *     for each rank:
 *         fi_merged_trace_rank(m, &source);
 *         fi_merged_trace_append(m, piece, n);        any number of pieces, in order
 *         fi_merged_trace_loots(m, loots, n_loots);   any number of pieces, in any order
 *     e = fi_merged_trace_close(m);
 *
 * Events are written as they arrive, so memory does not depend on their number.  Loots are kept
 * until the end, because an arrow needs both of its ends.
 *
 * A rank's file may be missing, truncated or damaged.  A message names the rank, and the trace has
 * its events up to that point.  The result is valid JSON in all cases. */
#ifndef FI_CLUSTER_MERGED_TRACE_H
#define FI_CLUSTER_MERGED_TRACE_H

#include "observe/clock_sync.h"
#include "observe/loot_log.h"

#include <stddef.h>
#include <stdint.h>

typedef struct fi_merged_trace fi_merged_trace;

typedef struct fi_trace_source {
    unsigned rank;
    int pid;
    const char *host;       /* copied */
    fi_clock_map clock;     /* from the clock of the rank to that of rank 0; zeros: the same */
    uint64_t loots_dropped; /* by its log */
} fi_trace_source;

/* [communication thread] All of these.  The thread blocks SIGPIPE and SIGXFSZ. */

/* Returns: 0; -errno after a message. */
int fi_merged_trace_open(fi_merged_trace **m, const char *path, unsigned ranks);

/* The following calls are about this rank.  Each rank comes once.
 * Returns: 0.
 *     -EINVAL: the rank is not less than the number of ranks, or came before.
 *     Other errors: the merged file cannot be written. */
int fi_merged_trace_rank(fi_merged_trace *m, const fi_trace_source *source);

/* The next bytes of the rank's file.  A line may begin in one piece and end in another.
 * Returns: 0; -errno: the merged file cannot be written. */
int fi_merged_trace_append(fi_merged_trace *m, const void *bytes, size_t n);

/* Entries of the rank's log.  They may come before or after its file.
 * Returns: 0. */
int fi_merged_trace_loots(fi_merged_trace *m, const fi_loot *loots, size_t n);

/* Write the rest, and free m.
 * Returns: 0; -errno after a message: there is no merged file. */
int fi_merged_trace_close(fi_merged_trace *m);

#endif
