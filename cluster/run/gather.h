/* At the end, rank 0 asks each rank in turn for its counters (FILCH_STATS) and for its trace
 * (FILCH_TRACE).  A rank has one query open at most, so memory and network load are bounded.
 *
 * If there is a trace, rank 0 also asks the ranks on other nodes for the time, when the job starts
 * and when it ends. */
#ifndef FI_CLUSTER_GATHER_H
#define FI_CLUSTER_GATHER_H

#include "observe/clock_sync.h"
#include "observe/loot_log.h"
#include "observe/merged_trace.h"
#include "observe/stats_table.h"
#include "protocol/message.h"

#include <stdbool.h>

/* The counters of a rank, and its process.  Plain bytes: the body of a REPLY. */
typedef struct fi_summary {
    fi_rank_stats stats;
    uint64_t loots_dropped; /* by the log */
    uint64_t pid;
    char host[72]; /* terminated by 0 */
} fi_summary;

typedef struct fi_gather_config {
    unsigned rank, ranks;
    bool prints_stats;
    const char *trace; /* the merged file; NULL: none.  Must stay valid */
    bool (*is_near)(unsigned rank);
    /* Takes p.  NULL: there is no memory for the message. */
    void (*send)(unsigned to, fi_packet *p);
} fi_gather_config;

/* A conversation with one rank after the other. */
typedef enum fi_gather_phase {
    FI_GATHER_IDLE,  /* nothing to do */
    FI_GATHER_START, /* the time, at the start of the job */
    FI_GATHER_STOP,  /* the rest, at its end */
    FI_GATHER_DONE,  /* rank 0 has received everything; another rank has learned this */
} fi_gather_phase;

typedef struct fi_gather {
    fi_gather_config set;
    fi_gather_phase phase;
    bool has_summary;   /* of this rank: it has stopped its runtime */
    fi_summary summary; /* of this rank */
    const char *file;   /* the trace of this rank; NULL: none */
    const fi_loot_log *loots;
    fi_packet *early; /* a query before the summary; NULL: none */

    /* Rank 0. */
    bool merges_own;               /* its own trace, in steps */
    uint64_t own_position;         /* of the next piece */
    unsigned at;                   /* the rank that is asked */
    unsigned n_samples;            /* of its clock, in this phase */
    fi_rank_stats *rows;           /* by rank; NULL: no memory */
    fi_clock_sample *start, *stop; /* FI_CLOCK_SAMPLES for each rank; NULL: no trace */
    fi_merged_trace *merged;       /* NULL: no trace */
} fi_gather;

/* Begin to ask for the time, if there is a trace. */
void fi_gather_start(fi_gather *g, const fi_gather_config *set);

/* This rank has stopped its runtime.  file: its trace, or NULL. */
void fi_gather_stop(fi_gather *g, const fi_summary *own, const char *file,
                    const fi_loot_log *loots);

/* A QUERY or a REPLY has arrived.  Takes p.  Returns false: it is not valid. */
bool fi_gather_receive(fi_gather *g, fi_packet *p);

/* Continue what needs no message.  A step is short, so that heartbeats are not late.  Returns
 * false: there is nothing to do. */
bool fi_gather_step(fi_gather *g);

static inline bool fi_gather_is_over(const fi_gather *g)
{
    return g->phase == FI_GATHER_DONE;
}

/* Rank 0 has received everything.  The other ranks send nothing more, while this one may still stop
 * its runtime. */
bool fi_gather_is_ending(const fi_gather *g);

void fi_gather_fini(fi_gather *g);

#endif
