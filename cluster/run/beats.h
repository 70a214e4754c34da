/* Heartbeats.  Once a second, each rank sends BEAT to its parent and its children in the tree.  A
 * rank that has heard nothing of a neighbour for a long time reports it as dead.
 *
 * A BEAT has the progress of its sender.  On the way up it has that of the sender's subtree, so
 * rank 0 knows all ranks. */
#ifndef FI_CLUSTER_BEATS_H
#define FI_CLUSTER_BEATS_H

#include "protocol/message.h"
#include "protocol/topology.h"

#include <filch/ranks.h>
#include <stdbool.h>

/* The body of a BEAT. */
typedef struct fi_beat {
    /* Of the sender, or of its subtree.  busy includes the sender.  Times are those of the sender's
     * clock, so only silence_ns has a meaning for other ranks. */
    filch_ranks_sums sums;
    uint64_t run_items; /* processed in run sums.run */
    /* The sender first, then its subtree unless there are too many ranks.  heard_ns is the time
     * since then. */
    filch_ranks_row rows[];
} fi_beat;

/* Parent and children. */
typedef struct fi_neighbour {
    unsigned rank;
    bool is_warned;   /* a message says that it is silent */
    int64_t heard_ns; /* time of the last message */
    int64_t beat_ns;  /* time of the last BEAT */
    fi_packet *beat;  /* the last one; NULL: none */
} fi_neighbour;

enum { FI_NEIGHBOURS_MAX = 1 + FI_TREE_DEGREE };

typedef struct fi_beats {
    unsigned rank, ranks;
    unsigned n;
    fi_neighbour neighbours[FI_NEIGHBOURS_MAX];
    int64_t next_ns;    /* time of the next beat */
    int64_t silence_ns; /* INT64_MAX: silence is not a failure */
} fi_beats;

typedef enum fi_silence { FI_HEARD, FI_SILENT, FI_DEAD } fi_silence;

void fi_beats_init(fi_beats *b, unsigned rank, unsigned ranks, int64_t silence_ns, int64_t now);
void fi_beats_fini(fi_beats *b);

/* A message of this rank has arrived. */
void fi_beats_heard(fi_beats *b, unsigned from, int64_t now);
/* A BEAT has arrived.  Takes p.  Returns false: it is not valid. */
bool fi_beats_receive(fi_beats *b, fi_packet *p, int64_t now);

/* Is it time for the next BEATs?  If this process was stopped for a while, its neighbours have not
 * been silent. */
bool fi_beats_due(fi_beats *b, int64_t now);

/* A neighbour is silent after FI_SILENT_NS, and dead after silence_ns.  FI_SILENT is returned once
 * for each silence. */
#define FI_SILENT_NS INT64_C(3000000000)
fi_silence fi_beats_check(const fi_beats *b, fi_neighbour *n, int64_t now);

/* The row of a neighbour, with its host and process; NULL: not known yet. */
const filch_ranks_row *fi_beats_row(const fi_neighbour *n);

/* Make a BEAT without a receiver.  own: the progress of this rank, and its row in rows[0].
 * with_subtree: add that of the subtree.
 * Returns NULL: there is no memory. */
typedef struct fi_beat_own {
    filch_ranks_sums sums;
    uint64_t run_items;
    filch_ranks_row row;
} fi_beat_own;
fi_packet *fi_beats_make(const fi_beats *b, const fi_beat_own *own, bool with_subtree, int64_t now);

/* The body of a BEAT, and the number of its rows. */
const fi_beat *fi_beat_of(const fi_packet *p);
size_t fi_beat_n_rows(const fi_packet *p);

#endif
