/* Copies all event rings of a runtime, and merges them by time. */
#ifndef FI_OBSERVE_TRACE_MERGE_H
#define FI_OBSERVE_TRACE_MERGE_H

#include "base/event_ring.h"

#include <stdbool.h>

typedef struct fi_runtime fi_runtime;

/* The copy of one ring. */
typedef struct fi_trace_track {
    fi_event *events;
    uint64_t n, at;       /* number of events, and index of the next one */
    uint64_t overwritten; /* events that are not in the copy */
} fi_trace_track;

/* One track for each worker, and a last one for all other threads. */
typedef struct fi_trace_merge {
    unsigned n_tracks;
    fi_trace_track *tracks;
    unsigned *heap; /* min-heap of the tracks with events left, by the time of their next event */
    unsigned n_heap;
    uint64_t ticks; /* time of the copy; later events are left out */
    void *memory;
    size_t size;
} fi_trace_merge;

/* [any] The workers may continue meanwhile.  Returns: 0; -ENOMEM. */
int fi_trace_merge_init(fi_trace_merge *c, fi_runtime *rt);
void fi_trace_merge_free(fi_trace_merge *c);

/* [owner] The next event and its track.  Returns: NULL after the last event. */
const fi_event *fi_trace_merge_next(fi_trace_merge *c, unsigned *track);

#endif
