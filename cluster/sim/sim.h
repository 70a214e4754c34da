/* A simulation of all ranks of a job in one thread and in virtual time.
 *
 * Each rank runs the protocol of cluster/protocol, unchanged.  The simulator is its host: it
 * replaces the network, the clock, the lanes and the communication thread by models.
 *
 *     lane        one per rank.  It processes blocks of tree nodes.  At the end of a block it gives
 *                 a loot if one is wanted (lane.c).
 *     thread      it sleeps while it has nothing to do.  A sleeper needs time to wake up (thread.c).
 *     network     latency with jitter, time per byte; messages overtake each other (network.c)
 *     failures    a rank that stops for a while or for ever; heartbeats and silence (heartbeat.c)
 *
 * The simulator checks the protocol while it runs (check.c).  The same settings give the same
 * events. */
#ifndef FI_SIM_H
#define FI_SIM_H

#include "sim/tree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FI_SIM_RANKS_MAX 16384u

typedef struct fi_sim_settings {
    unsigned ranks; /* 1 to FI_SIM_RANKS_MAX */
    uint64_t seed;

    /* Work. */
    fi_tree tree;
    unsigned roots;           /* trees of each run, distributed over the ranks */
    const fi_tree_sum *known; /* of all nodes of a run; NULL: the simulator counts them */
    int64_t item_ns;
    unsigned n_slow;    /* ranks whose items take slow_factor times as long */
    double slow_factor; /* at least 1 */

    /* Network and communication threads. */
    int64_t latency_ns;
    double jitter; /* a message takes 1 to 1 + jitter latencies */
    double byte_ns;
    bool reorder;     /* each 8th message is late by up to 20 latencies */
    int64_t wake_ns;  /* a sleeper wakes up after 0 to wake_ns */
    int64_t probe_ns; /* a hungry rank without a message probes for this time, then sleeps */

    /* Protocol. */
    size_t loot_bytes;
    unsigned random_tries;
    int64_t answer_ns;

    /* Runs. */
    unsigned runs;          /* one after the other */
    int64_t enter_ns;       /* a rank enters a run 0 to enter_ns after it could */
    uint64_t stop_every;    /* the handler of one item in stop_every returns a result; 0: never */
    unsigned mismatch_run;  /* in this run, from 1 on, ... */
    unsigned mismatch_rank; /* ... this rank makes another call; run 0: never */

    /* Failures. */
    unsigned outage_rank;
    int64_t outage_at;
    int64_t outage_ns;  /* 0: none; INT64_MAX: the rank dies */
    int64_t silence_ns; /* a neighbour that is silent for this time is dead; 0: no heartbeats */

    uint64_t events_max; /* 0: no limit */
    void (*progress)(uint64_t items, void *ctx);
    void *progress_ctx;
} fi_sim_settings;

typedef struct fi_sim_report {
    char error[200]; /* the first broken assertion; empty: none */
    uint64_t hash;   /* of all events */
    uint64_t events;
    int64_t ns; /* until all ranks have left the last run, or until the failure */
    uint64_t items;
    double efficiency; /* work / (ranks x time); slow ranks count as what they can do */
    uint64_t messages, bytes;
    uint64_t asks, lifes, refusals, loots, gifts, waves;
    int result; /* of the run that was left last */

    /* Silence. */
    bool is_failed; /* a rank has found a neighbour dead */
    unsigned failed_rank, failed_by;
    bool dead_had_left; /* the rank that died had left the last run before */
} fi_sim_report;

/* The defaults of the library, one run of one tree on 64 ranks. */
fi_sim_settings fi_sim_defaults(void);

/* Returns 0, or -1: there is an error in the report. */
int fi_sim_run(const fi_sim_settings *set, fi_sim_report *report);

#endif
