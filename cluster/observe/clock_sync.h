/* Converts times of one rank's clock to those of another's.  Pure functions: the communication
 * thread exchanges the messages.
 *
 * A rank sends a message, and the other rank answers with its own time.  The other clock was read
 * somewhere between the two times of the asking rank.  The middle is the estimate, and half of the
 * round trip is its maximum error.  Two such points, at the start and at the stop of the job, give
 * a line, because two clocks differ in their speed by some microseconds per second.
 *
 * Ranks on the same node share CLOCK_MONOTONIC.  They need no samples: a map of zeros is exact. */
#ifndef FI_CLUSTER_CLOCK_SYNC_H
#define FI_CLUSTER_CLOCK_SYNC_H

#include <stdint.h>

enum { FI_CLOCK_SAMPLES = 8 }; /* at the start, and again at the stop */

/* One question and its answer. */
typedef struct fi_clock_sample {
    int64_t sent_ns, received_ns; /* by the clock of the rank that asks */
    int64_t remote_ns;            /* by the clock of the rank that answers */
} fi_clock_sample;

/* From the clock of the rank that asked to that of the rank that answered.  Zeros: the same
 * clock. */
typedef struct fi_clock_map {
    int64_t at_ns;     /* time at which the difference was measured */
    int64_t offset_ns; /* the difference then */
    double rate;       /* its change per nanosecond since then */
    int64_t error_ns;  /* maximum error at the measured points; INT64_MAX: there was no sample */
} fi_clock_map;

/* [any] The map from samples at the start and at the stop.  In each of the two sets the sample with
 * the shortest round trip is used.  A set may be empty. */
fi_clock_map fi_clock_sync(const fi_clock_sample *start, unsigned n_start,
                           const fi_clock_sample *stop, unsigned n_stop);

/* [any] Convert a time.  Later times give the same or later results. */
int64_t fi_clock_map_apply(const fi_clock_map *m, int64_t ns);

/* [any] The map in the other direction. */
fi_clock_map fi_clock_map_invert(const fi_clock_map *m);

#endif
