/* The protocol of one rank, as a state machine.
 *
 * It has no threads, no clock and no network.  It is driven by calls: a run begins, a message has
 * arrived, time has passed.  It acts through fi_host.  The communication thread (run/comm.c) drives
 * it in a program.  The simulator (sim/) drives thousands of them in virtual time.
 *
 * A struct fi_rank has no pointers into itself and owns no memory, so the exhaustive check copies
 * it.
 *
 *     thief.c        questions of a hungry rank, lifelines
 *     victim.c       questions to this rank, and answers
 *     termination.c  waves that detect the end, with the proof
 *     finish.c       results go up the tree, and the common result comes down; STOP
 *     rank.c         dispatch of messages
 *
 * Phases of a rank in run n:
 *     BETWEEN  run n has not begun here.  The rank answers NO.
 *     RUNNING  from fi_rank_begin on
 *     ENDING   END has arrived.  The rank waits for the answer to its own question and for the
 *              results of its children.
 *     LEAVING  the rank has sent its result and waits for LEAVE.  Its state is that of run n + 1
 *              already, because ranks that got LEAVE earlier may be in that run. */
#ifndef FI_CLUSTER_RANK_H
#define FI_CLUSTER_RANK_H

#include "protocol/message.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum fi_activity {
    FI_PASSIVE, /* no lane, no loot to send, no loot to open */
    FI_HUNGRY,  /* some work, but capacity for more */
    FI_BUSY,
} fi_activity;

/* What the protocol needs of the process.  All functions get ctx. */
typedef struct fi_host {
    /* Send p, and take it. */
    void (*send)(void *ctx, unsigned to, fi_packet *p);
    /* A passive rank stays passive until the host opens a loot or begins a run. */
    fi_activity (*activity)(void *ctx);
    /* n thieves wait.  Make up to n loots, and later call fi_rank_give with each. */
    void (*want)(void *ctx, unsigned n);
    /* Open a loot: start to work on it, and take p. */
    void (*open)(void *ctx, fi_packet *p);
    /* Drop all work that has not begun, now and for the rest of the run. */
    void (*drop)(void *ctx);
    /* Add the accumulator of other ranks to that of this rank. */
    void (*combine)(void *ctx, const void *other);
    /* The run is over on all ranks.  acc holds the common result. */
    void (*leave)(void *ctx, int result);
    /* No memory for a message (-ENOMEM), or a message that cannot be (-EPROTO).  Ends the job. */
    void (*fail)(void *ctx, int error);
} fi_host;

typedef struct fi_rank_settings {
    unsigned rank, ranks;
    unsigned n_near;      /* ranks on the same node, including this one; 0: unknown */
    const unsigned *near; /* their numbers */
    unsigned random_tries;
    int64_t answer_ns; /* how long a question waits for a lane to split */
    uint64_t seed;
} fi_rank_settings;

enum { FI_ASKS_MAX = 64 }; /* questions that wait for an answer */

typedef struct fi_ask {
    uint32_t from;
    bool is_life;
    int64_t until; /* answer NO then */
} fi_ask;

/* What this rank asks of others. */
typedef struct fi_thief {
    bool is_open;         /* a question waits for its answer */
    bool is_life;         /* the question is a LIFE */
    uint32_t asked;       /* the rank that was asked */
    unsigned tries;       /* random ranks asked since the last loot */
    uint32_t armed;       /* lifelines that remember this rank */
    uint32_t early;       /* lifelines that sent a GIFT before the NO that comes before it */
    int64_t hungry_since; /* -1: not hungry */
} fi_thief;

/* What others ask of this rank. */
typedef struct fi_victim {
    fi_ask asks[FI_ASKS_MAX]; /* a ring, oldest first */
    unsigned first, n;
    uint32_t remembered; /* mask of the lifelines to which this rank owes a GIFT */
    unsigned wanted;     /* the last number given to fi_host.want */
} fi_victim;

typedef struct fi_termination {
    uint64_t sent, opened; /* loots of this rank in this run */
    bool has_wave;         /* a wave waits for this rank's COUNT */
#ifdef FI_PROTOCOL_FAULTS
    bool was_passive;   /* the rank was passive at some time in this run */
    uint64_t last_sent; /* rank 0: as last_opened */
#endif
    uint64_t wave;                 /* its number */
    unsigned counts_missing;       /* children that have not counted in this wave */
    uint64_t sum_sent, sum_opened; /* of the children that have */
    bool has_last;                 /* rank 0: there was a wave before */
    uint64_t last_opened;          /* rank 0: the sum of the wave before */
} fi_termination;

typedef enum fi_phase { FI_BETWEEN, FI_RUNNING, FI_ENDING, FI_LEAVING } fi_phase;

/* Since fi_rank_init. */
typedef struct fi_rank_counters {
    uint64_t asks, lifes, refusals; /* questions of this rank, and NOs to them */
    uint64_t loots_in, gifts_in, bytes_in;
    uint64_t loots_out, gifts_out, bytes_out;
    uint64_t waves;     /* counted in */
    uint64_t hungry_ns; /* time without enough work, within runs */
} fi_rank_counters;

typedef struct fi_rank {
    const fi_host *host;
    void *ctx;
    fi_rank_settings set;
    uint32_t lifelines; /* mask */
    unsigned n_children;
    uint64_t random;

    uint32_t run;
    uint32_t call;       /* hash of this rank's call; 0: between runs */
    uint32_t early_call; /* hash in a message for a run that has not begun here; 0: none */
    fi_phase phase;
    int result; /* first result that is not 0; all work is dropped then */
    void *acc;
    size_t acc_size;
    unsigned dones_missing; /* children that have not sent DONE */
    fi_thief thief;
    fi_victim victim;
    fi_termination end;
    fi_rank_counters counters;
} fi_rank;

void fi_rank_init(fi_rank *r, const fi_rank_settings *set, const fi_host *host, void *ctx);

/* Begin a run.  The host has its own initial work ready: activity tells.
 * call: not 0; the same on all ranks, or all get -EPROTO.
 * acc: this rank's accumulator, to which the host adds results until the rank is passive. */
void fi_rank_begin(fi_rank *r, uint32_t call, void *acc, size_t acc_size, int64_t now);

/* A message has arrived.  Takes p. */
void fi_rank_receive(fi_rank *r, fi_packet *p, int64_t now);

/* React to messages, to a change of activity or to passed time.  Call it after any of these. */
void fi_rank_step(fi_rank *r, int64_t now);

/* The time of the next fi_rank_step if nothing else happens; INT64_MAX: none is needed. */
int64_t fi_rank_deadline(const fi_rank *r);

/* Send a loot to a thief that waits.  Takes p if true.  False: no thief waits any more. */
bool fi_rank_give(fi_rank *r, fi_packet *p);

/* A handler returned a result that is not 0, or an error occurred: end the run on all ranks. */
void fi_rank_stop(fi_rank *r, int result);

#endif
