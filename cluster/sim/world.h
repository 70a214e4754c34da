/* The state of a simulation, and the functions between its files. */
#ifndef FI_SIM_WORLD_H
#define FI_SIM_WORLD_H

#include "protocol/rank.h"
#include "sim/bag.h"
#include "sim/event.h"
#include "sim/sim.h"

enum { FI_SIM_OUTBOX_MAX = 8, FI_SIM_NEIGHBOURS = 9 };

/* A list of packets, oldest first. */
typedef struct fi_packets {
    fi_packet *first, *last; /* not valid if n is 0 */
    unsigned n;
} fi_packets;

struct fi_world;

typedef struct fi_node {
    fi_rank rank;
    struct fi_world *world;
    unsigned number;

    /* Lane. */
    fi_bag bag;
    bool is_slow;
    int64_t item_ns;
    int64_t block_ns;      /* duration of the current block */
    unsigned block_max;    /* items of a block; adapts to the time of a block */
    bool block_is_full;    /* the current block has block_max items */
    bool block_has_result; /* its last item has a result */
    bool is_running;
    unsigned wanted;
    fi_packets shelf;  /* loots that came while the lane was running */
    fi_packets outbox; /* loots for the communication thread */

    /* Communication thread. */
    fi_packets inbox;
    bool is_waking;
    int64_t probe_until;
    int64_t timer_at;
    int handler_result; /* of a handler; the thread reports it */

    /* Run. */
    fi_tree_sum acc;
    bool has_opened; /* a loot, while a message was handled */
    uint32_t left;   /* the last run that the rank has left */

    /* Checks. */
    unsigned questions;     /* open */
    unsigned loots_to_come; /* LOOTs and GIFTs under way to this rank */
    uint64_t waves;         /* that this rank had counted in before the last step */

    /* Heartbeats.  Neighbours in the tree: the parent, then the children. */
    int64_t heard[FI_SIM_NEIGHBOURS], sent[FI_SIM_NEIGHBOURS];
} fi_node;

enum { FI_SIM_RUNS_AT_ONCE = 4 };

/* A run, as no rank sees it. */
typedef struct fi_run_ledger {
    unsigned entered, left; /* ranks */
    int result;             /* of the first rank that left */
    bool has_handler_result;
    unsigned quiet_waves;         /* closed after the last item and loot */
    uint64_t under_way[FI_KINDS]; /* messages, without STOP and BEAT */
} fi_run_ledger;

/* What exists in the whole world. */
typedef struct fi_ledger {
    uint64_t items;                          /* in bags and packets */
    unsigned running;                        /* lanes */
    uint64_t work_events;                    /* without heartbeats */
    fi_run_ledger runs[FI_SIM_RUNS_AT_ONCE]; /* by number of the run */
} fi_ledger;

typedef struct fi_world {
    const fi_sim_settings *set;
    fi_sim_report *report;
    fi_node *nodes;
    fi_events events;
    int64_t now;
    uint64_t random;
    fi_tree_sum expected;
    unsigned finished; /* ranks that have left the last run */
    fi_ledger ledger;
} fi_world;

/* world.c */
void fi_world_push(fi_world *w, int64_t at, fi_node *node, fi_event_kind kind, fi_packet *p);
/* Record a broken assertion.  The first one counts. */
void fi_world_error(fi_world *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* packets.c */
void fi_packets_push(fi_packets *list, fi_packet *p);
fi_packet *fi_packets_pop(fi_packets *list); /* NULL: empty */

/* lane.c */
void fi_lane_start(fi_node *node);
void fi_lane_end_block(fi_node *node);
void fi_lane_open(fi_node *node, fi_packet *p); /* takes p */
void fi_lane_drop(fi_node *node);
size_t fi_loot_items(const fi_packet *p);

/* thread.c */
extern const fi_host fi_thread_host;
void fi_thread_ring(fi_node *node);
void fi_thread_wake(fi_node *node);
void fi_thread_timer(fi_node *node);
void fi_thread_enter(fi_node *node);

/* network.c */
void fi_network_send(fi_node *from, unsigned to, fi_packet *p);
void fi_network_arrive(fi_node *to, fi_packet *p);

/* heartbeat.c */
void fi_beat_start(fi_node *node);
void fi_beat_tick(fi_node *node);
void fi_beat_sent(fi_node *node, unsigned to);
void fi_beat_heard(fi_node *node, unsigned from);

/* check.c */
fi_run_ledger *fi_ledger_of(fi_world *w, uint32_t run);
void fi_check_send(fi_node *from, fi_node *to, const fi_packet *p);
void fi_check_arrive(fi_node *to, const fi_packet *p);
void fi_check_open(fi_node *node, const fi_packet *p);
void fi_check_rank(fi_node *node);
void fi_check_end(fi_world *w, uint32_t run);
void fi_check_leave(fi_node *node, int result);
void fi_check_finished(fi_world *w);

#endif
