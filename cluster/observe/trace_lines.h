/* Rewrites the lines of one rank's trace file (src/observe/trace_json.c) for the merged trace.
 *
 * The file has a head line, one line for each event, and an end line "]}".  An event changes in
 * three ways.  Its process ID becomes that of the rank, its time that of rank 0's clock, and the ID
 * of a flow becomes unique.  The rest of the line is copied.
 *
 *     process ID of the merged trace    what it shows
 *     2 * rank + 1                      workers of the rank, and its loots
 *     2 * rank + 2                      fibers that wait */
#ifndef FI_CLUSTER_TRACE_LINES_H
#define FI_CLUSTER_TRACE_LINES_H

#include "observe/clock_sync.h"
#include "observe/event_file.h"

enum {
    FI_TRACE_LOOT_ROW = 1 << 23 /* thread ID of the loots: larger than any real one, and than those
                                   that trace_json.c gives to workers without a thread */
};

/* The trace of one rank. */
typedef struct fi_trace_lines {
    unsigned rank;
    const char *host;   /* plain characters only */
    fi_clock_map clock; /* from CLOCK_MONOTONIC of this rank to that of rank 0 */
    int64_t origin_ns;  /* time 0 of the merged trace, by the clock of rank 0 */
    /* Set by fi_trace_lines_head: */
    int64_t start_ns; /* CLOCK_MONOTONIC at time 0 of this trace */
    double rate;      /* CLOCK_MONOTONIC gains this per ns of the trace */
    uint64_t overwritten;
    uint64_t pid; /* of the file; 0: no event was read */
} fi_trace_lines;

/* Write the names of the rank's groups of rows. */
void fi_trace_lines_begin(const fi_trace_lines *t, fi_event_file *out);

/* Read the head line.  False: it is not one. */
bool fi_trace_lines_head(fi_trace_lines *t, const char *line, size_t n);

/* Rewrite the line of an event, which may end with a comma.  False: it is damaged, and nothing was
 * written. */
bool fi_trace_lines_event(fi_trace_lines *t, fi_event_file *out, const char *line, size_t n);

/* The time of an event in the merged trace, from CLOCK_MONOTONIC of the rank. */
int64_t fi_trace_lines_ns(const fi_trace_lines *t, int64_t monotonic_ns);

/* The process ID of the workers of a rank. */
static inline uint64_t fi_trace_group(unsigned rank)
{
    return 2 * (uint64_t)rank + 1;
}

#endif
