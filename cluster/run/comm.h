/* The communication thread of this process.  It is the only thread that calls the transport, and it
 * drives the protocol.
 *
 *     comm.c      the thread, requests to it, and the host of the protocol
 *     sends.c     messages that the transport has not taken yet
 *     pace.c      how long to poll and to sleep
 *     beats.c     heartbeats, with the progress of all ranks
 *     monitor.c   once a second: heartbeats, silent ranks, a dead launcher, reports of progress
 *     gather.c    counters and traces of all ranks, at the end
 *     lanes.c     the work of a run
 *     run.c       the collective calls of the program
 */
#ifndef FI_CLUSTER_COMM_H
#define FI_CLUSTER_COMM_H

#include "observe/ranks_page.h"
#include "run/beats.h"
#include "run/gather.h"
#include "run/lanes.h"
#include "run/pace.h"
#include "run/sends.h"
#include "settings.h"
#include "transport/transport.h"

#include <filch/stats.h>
#include <filch/sync.h>
#include <semaphore.h>
#include <sys/types.h>

/* What threads of the program ask of the communication thread. */
typedef struct fi_request {
    pthread_mutex_t lock;
    bool has_run, has_stop;
    uint32_t call; /* of the run */
} fi_request;

typedef struct fi_comm {
    /* Set before the thread starts, or while the transport opens. */
    fi_settings set;
    const fi_transport *net;
    fi_transport_config net_config;
    fi_place place;
    char host[FILCH_RANKS_HOST];
    pid_t launcher; /* the parent process at the start; 0: none */
    pthread_t thread;
    sem_t opened; /* the thread has opened the transport, or failed */
    sem_t begun;  /* the thread may handle messages */
    int open_error;

    /* Set by the start, after the transport is open. */
    unsigned workers;
    bool prints_stats;
    const char *trace;     /* rank 0: the merged trace; NULL: none */
    const char *own_trace; /* the trace of this rank; NULL: none */

    fi_request request;
    fi_lanes lanes;
    filch_mutex run_over; /* the caller locks it, and the thread unlocks it at the end of the run */
    int run_result;       /* valid then */
    /* Set before the request to stop. */
    uint64_t n_stop_runs;    /* runs of filch_cluster_stop */
    filch_counters counters; /* of the workers */

    /* Used by the thread alone. */
    fi_rank rank;
    fi_sends sends;
    fi_pace pace;
    fi_beats beats;
    fi_gather gather;
    fi_loot_log loots;
    fi_ranks_page *page; /* rank 0 */
    bool is_in_run;
    uint64_t n_runs, n_wakeups;
    uint64_t n_loots_sent;
    uint64_t items_before; /* processed in runs that are over */
    int64_t started_ns, started_cpu_ns, run_started_ns;
    int64_t run_ns;      /* within runs that are over */
    int64_t progress_at; /* time of the next report of progress; rank 0 */
} fi_comm;

/* The one of this process. */
extern fi_comm fi_comm_own;

/* [start] Start the thread, and open the transport in it.  fi_comm_own.set and .net are set.
 * Returns 0 or -errno, after a message. */
int fi_comm_open(void);

/* [start] The runtime is running: begin to handle messages. */
void fi_comm_begin(void);

/* [caller of a run] Take part in a collective call, whose lanes have begun.  Waits for its end.
 * Returns the result. */
int fi_comm_run(uint32_t call);

/* [stop] The runtime has stopped.  Gather counters and traces, close the transport, and join the
 * thread. */
void fi_comm_stop(void);

/* [any] Wake the thread. */
void fi_comm_ring(void);

/* [any] End all ranks, after a message. */
__attribute__((noreturn)) void fi_comm_abort(void);

/* ---- between files of the thread ---- */

/* Send p to a rank, now or later.  Takes p.  NULL: there is no memory, and all ranks end. */
void fi_comm_send(unsigned to, fi_packet *p);

/* monitor.c */
void fi_monitor_init(fi_comm *c);
void fi_monitor_step(fi_comm *c, int64_t now);
void fi_monitor_fini(fi_comm *c);
/* Time of the next step. */
int64_t fi_monitor_deadline(const fi_comm *c);

#endif
