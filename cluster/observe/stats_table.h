/* FILCH_STATS over all ranks. */
#ifndef FI_CLUSTER_STATS_TABLE_H
#define FI_CLUSTER_STATS_TABLE_H

#include "protocol/rank.h"

#include <filch/stats.h>
#include <stdint.h>

/* Counters of one rank, since filch_cluster_start.  Plain bytes: the body of a message. */
typedef struct fi_rank_stats {
    fi_rank_counters protocol;
    uint64_t items; /* processed */
    uint64_t lanes_started;
    uint64_t wakeups;       /* of the communication thread */
    uint64_t thread_cpu_ns; /* CPU time of the communication thread */
    uint64_t run_ns;        /* within runs */
    uint64_t runs;
    filch_counters workers; /* of all workers of the rank */
} fi_rank_stats;

/* [any] Send a table as messages, one line for each counter: its sum, minimum, median and maximum,
 * and the ranks with the minimum and the maximum.
 * rows: one for each rank, in the order of the ranks. */
void fi_stats_table_print(const fi_rank_stats *rows, unsigned ranks);

#endif
