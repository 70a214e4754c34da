/* A copy of all logs of a runtime, and the events in it in the order of their times. */
#ifndef FI_OBSERVE_TRACE_MERGE_H
#define FI_OBSERVE_TRACE_MERGE_H

#include "base/event_ring.h"

#include <stdbool.h>

typedef struct fi_runtime fi_runtime;

/* Of one log. */
typedef struct fi_trace_track {
    fi_event *events;
    uint64_t n, at;       /* how many, and which is next */
    uint64_t overwritten; /* that were written over */
} fi_trace_track;

/* One for each worker, and the last for all other threads. */
typedef struct fi_trace_merge {
    unsigned n_tracks;
    fi_trace_track *tracks;
    unsigned *heap; /* tracks that have events left; the one with the first event first */
    unsigned n_heap;
    uint64_t ticks; /* when it was made: later events are left out */
    void *memory;
    size_t size;
} fi_trace_merge;

/* [any] Workers may go on meanwhile.  0; -ENOMEM. */
int fi_trace_merge_init(fi_trace_merge *c, fi_runtime *rt);
void fi_trace_merge_free(fi_trace_merge *c);

/* [owner] The next event, and whose it is; NULL: there is none left. */
const fi_event *fi_trace_merge_next(fi_trace_merge *c, unsigned *track);

#endif
