/* The state of another process that filch top displays.  The process runs meanwhile, so the values
 * of two workers or fibers may be of different times. */
#ifndef CLI_TOP_SNAPSHOT_H
#define CLI_TOP_SNAPSHOT_H

#include "remote.h"

enum {
    TOP_KINDS = 16, /* kinds of waits */
    TOP_WAITS = 16, /* the longest waits */
};

typedef enum top_state {
    TOP_ASLEEP,
    TOP_SEARCHING, /* awake without work */
    TOP_BUSY,
} top_state;

typedef struct top_worker {
    top_state state;
    bool is_lent;                 /* a thread that called FILCH_RUN runs it */
    uint64_t deque, ready, inbox; /* sizes of its queues */
    uint64_t steals, steals_failed, parks, sleeps, ended; /* counters */
    char runs[REMOTE_TEXT];                               /* the name of its fiber */
} top_worker;

/* The number of fibers that wait for one kind of object. */
typedef struct top_kind {
    char what[REMOTE_TEXT];
    uint64_t fibers;
} top_kind;

typedef struct top_wait {
    char name[REMOTE_TEXT], what[REMOTE_TEXT];
    uint64_t fiber, object; /* addresses; fiber 0: no entry */
    int64_t for_ns;
} top_wait;

typedef struct top_snapshot {
    pid_t pid;
    unsigned n_workers;
    int64_t now_ns, up_ns;            /* of CLOCK_MONOTONIC; since the start of the process */
    uint64_t shared, high, low;       /* sizes of the shared queues, by priority */
    uint64_t running, ready, waiting; /* numbers of fibers */
    uint64_t other_kinds;             /* waiting fibers that are not counted in kind */
    top_kind kind[TOP_KINDS];         /* ended by an entry with 0 fibers, if not full */
    top_wait wait[TOP_WAITS];         /* longest first; ended by an entry without a fiber */
    top_worker worker[REMOTE_WORKERS_MAX];
} top_snapshot;

/* Read the workers only, or all.  False: the runtime is gone. */
bool top_read_workers(remote *r, top_snapshot *t);
bool top_read_all(remote *r, top_snapshot *t);

#endif
