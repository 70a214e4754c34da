/* The work of one run on one rank.
 *
 * A lane is a fiber with a bag and an accumulator of its own.  It processes a block of items, then
 * shares its bag if other lanes or other ranks need work, and repeats.  There are at most in_flight
 * lanes.  The workers of the rank run them, so within a rank the work is shared by Filch alone.
 *
 *     communication thread                      lane
 *     open a loot: a new lane            ->     process blocks
 *     want n loots                       ->     split the bag, pack the part, put it into the outbox
 *     take loots from the outbox         <-     ring
 *     notice that there is no lane left  <-     end: combine the accumulator, ring
 *
 * A mutex protects everything that both use.  The relaxed words that a lane reads after each
 * block are hints: a lane that acts on them reads them again under the mutex. */
#ifndef FI_CLUSTER_LANES_H
#define FI_CLUSTER_LANES_H

#include "base/atomic.h"
#include "protocol/rank.h"
#include "run/bag.h"

#include <filch/job.h>
#include <pthread.h>

enum { FI_OUTBOX_MAX = 8 };

typedef struct fi_packet_list {
    fi_packet *first, **end; /* end is not valid if first is NULL */
    unsigned n;
} fi_packet_list;

/* What a run works on. */
typedef struct fi_work {
    const fi_bag_ops *ops;
    void *ctx; /* of ops */
    void *acc;
    size_t acc_size;
    void (*combine)(void *acc, const void *other, void *ctx);
    void *combine_ctx;
} fi_work;

typedef struct fi_lanes {
    /* Set once. */
    unsigned in_flight;
    size_t loot_bytes;
    bool has_thieves; /* there are other ranks */
    bool checks_copies;
    void (*ring)(void); /* wake the communication thread */

    /* Set by begin. */
    fi_work work;
    void *neutral; /* a copy of the accumulator; NULL: it has no bytes, or there is no memory */
    filch_group group;

    pthread_mutex_t lock; /* protects all below */
    fi_lane *lanes;       /* those that run */
    fi_lane *waiting;     /* those that wait until fewer than in_flight run */
    fi_packet_list outbox;
    unsigned asked;              /* loots that thieves wait for */
    unsigned claimed;            /* of these, loots that a lane is making */
    int result;                  /* the first result that is not 0 */
    bool is_reported;            /* the protocol knows the result */
    uint64_t started;            /* lanes, since init */
    FI_ATOMIC(bool) is_dropping; /* for the rest of the run */
    FI_ATOMIC(unsigned) running; /* number of lanes that run */
    FI_ATOMIC(unsigned) wanted;  /* loots to make */
    FI_ATOMIC(uint64_t) items;   /* processed since init */
} fi_lanes;

void fi_lanes_init(fi_lanes *l);
void fi_lanes_fini(fi_lanes *l);

/* [caller of the run] Begin with this bag; NULL: none.  error: not 0: this rank has failed
 * before the run, and the run ends with this result. */
void fi_lanes_begin(fi_lanes *l, const fi_work *work, void *bag, int error);
/* [caller of the run] After the run is over: wait until the fibers of all lanes have ended. */
void fi_lanes_end(fi_lanes *l);

/* [communication thread] */
fi_activity fi_lanes_activity(fi_lanes *l);
void fi_lanes_want(fi_lanes *l, unsigned n);
/* Take a packed bag: unpack it and process it.  Frees p. */
void fi_lanes_open(fi_lanes *l, fi_packet *p);
/* The oldest finished loot; NULL: none. */
fi_packet *fi_lanes_take_loot(fi_lanes *l);
/* May there be work behind a long item, for which a thief or a worker of this rank waits?  Only
 * shared bags can be split while a lane processes them. */
bool fi_lanes_need_help(const fi_lanes *l);
/* Split off such work. */
void fi_lanes_help(fi_lanes *l);
/* Drop all work that has not begun. */
void fi_lanes_drop(fi_lanes *l);
/* A result that the protocol does not know yet; 0: none. */
int fi_lanes_take_result(fi_lanes *l);
unsigned fi_lanes_running(const fi_lanes *l);

/* [lane] Start another lane, or make a loot for another rank, if one is needed. */
void fi_lane_share_slow(fi_lane *lane);
/* All lanes of the rank to which this lane belongs. */
fi_lanes *fi_lane_all(const fi_lane *lane);

/* [lane] The hot part: two relaxed loads, which are hints. */
static inline void fi_lane_share(fi_lane *lane)
{
    const fi_lanes *l = fi_lane_all(lane);

    if (fi_load_relaxed(&l->running) < l->in_flight || fi_load_relaxed(&l->wanted) > 0)
        fi_lane_share_slow(lane);
}

#endif
