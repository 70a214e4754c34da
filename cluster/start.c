/* Start and stop of the cluster. */
#include "report.h"
#include "run/comm.h"
#include "run/run.h"
#include "workers.h"

#include <errno.h>
#include <filch/cluster.h>
#include <filch/runtime.h>
#include <filch/stats.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CALLER "filch_cluster_start"

typedef enum cluster_state { OFF, CHANGING, ON, IN_RUN } cluster_state;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects the state */
static cluster_state state;
static pid_t owner; /* the process that started; the child of a fork() has no cluster */

static bool has_failed;           /* the last start; its message is the only one */
static FI_ATOMIC(bool) is_joined; /* other ranks depend on this process */
static unsigned own_rank, n_ranks = 1;
static char own_trace[PATH_MAX];

/* ---- state ---- */

static int state_error(cluster_state expected)
{
    if (expected == OFF)
        return owner == getpid() ? -EALREADY : -EINVAL;
    return state == IN_RUN && owner == getpid() ? -EBUSY : -EINVAL;
}

static int state_change(cluster_state from, cluster_state to)
{
    int e = 0;

    pthread_mutex_lock(&lock);
    if (state != from || (from != OFF && owner != getpid()))
        e = state_error(from);
    else
        state = to;
    if (e == 0 && from == OFF)
        owner = getpid();
    pthread_mutex_unlock(&lock);
    return e;
}

int fi_cluster_claim(void)
{
    return state_change(ON, IN_RUN);
}

void fi_cluster_release(void)
{
    state_change(IN_RUN, ON);
}

/* ---- exit ---- */

/* MPICH may report success for a job in which a rank has called exit(0).  Relaxed: the flag is a
 * hint for other threads, which exit while this one starts or stops. */
static void exit_check(void)
{
    if (!fi_load_relaxed(&is_joined) || owner != getpid())
        return;
    fi_report(FILCH_LEVEL_ERROR, "exit() was called between filch_cluster_start and "
                                 "filch_cluster_stop; all ranks end with status 1");
    fi_comm_abort();
}

static void exit_check_install(void)
{
    static bool is_installed;

    if (!is_installed)
        (void)atexit(exit_check);
    is_installed = true;
}

/* ---- the runtime ---- */

/* Each rank writes a trace of its own, and rank 0 merges them.  A device is not merged, and neither
 * are files whose names contain the process (%p). */
static const char *trace_choose(const fi_place *place)
{
    const char *path = fi_settings_env("FILCH_TRACE");
    struct stat file;
    int n;

    if (!path || place->ranks == 1 || strstr(path, "%p") ||
        (stat(path, &file) == 0 && !S_ISREG(file.st_mode)))
        return NULL;
    n = snprintf(own_trace, sizeof own_trace, "%s.%u", path, place->rank);
    return n > 0 && (size_t)n < sizeof own_trace ? path : NULL;
}

static int runtime_start(fi_comm *c)
{
    const char *trace = trace_choose(&c->place);
    filch_config config = {.trace = trace ? own_trace : NULL};
    int e;

    if (!fi_settings_env("FILCH_WORKERS"))
        config.workers = fi_workers_choose(&c->place);
    e = filch_start(&config);
    if (e < 0)
        return e;
    /* A runtime that was running has its own settings. */
    if (trace && e == 0) {
        c->trace = trace;
        c->own_trace = own_trace;
    }
    c->workers = filch_worker_count();
    c->prints_stats = filch_stats_at_stop_(c->place.ranks == 1);
    return 0;
}

/* ---- start ---- */

static void comm_init(fi_comm *c)
{
    *c = (fi_comm){0};
    gethostname(c->host, sizeof c->host - 1);
}

static void lanes_init(fi_comm *c)
{
    fi_lanes *l = &c->lanes;

    fi_lanes_init(l);
    l->in_flight = c->set.in_flight > 0 ? c->set.in_flight : c->workers;
    l->loot_bytes = c->set.loot_bytes;
    l->has_thieves = c->place.ranks > 1;
    l->checks_copies = c->set.checks_copies;
    l->ring = fi_comm_ring;
}

/* The other ranks wait for this one, so they cannot continue after an error here. */
static int start_fail(const fi_comm *c, int e)
{
    if (c->place.ranks > 1) {
        fi_report(FILCH_LEVEL_ERROR, CALLER ": the runtime cannot be started (%s); all ranks end",
                  strerror(-e));
        fi_comm_abort();
    }
    fi_comm_begin();
    fi_comm_stop();
    return e;
}

static int cluster_join(fi_comm *c)
{
    int e = fi_transport_choose(c->set.transport, &c->net, &c->net_config);

    if (e < 0)
        return e;
    c->net_config.mpi_comm = c->set.mpi_comm;
    c->launcher = c->net == &fi_transport_one ? 0 : getppid();
    e = fi_comm_open();
    if (e < 0)
        return e;
    e = runtime_start(c);
    lanes_init(c);
    if (e < 0)
        return start_fail(c, e);
    if (c->place.rank == 0 && c->launcher != 0)
        fi_workers_check_binding(&c->place, c->workers);
    own_rank = c->place.rank;
    n_ranks = c->place.ranks;
    exit_check_install();
    fi_store_relaxed(&is_joined, true);
    fi_comm_begin();
    return 0;
}

int filch_cluster_start_(const filch_cluster_config *config, size_t size)
{
    fi_comm *c = &fi_comm_own;
    int e = state_change(OFF, CHANGING);

    if (e < 0) {
        fi_report(FILCH_LEVEL_ERROR, CALLER ": the cluster has been started in this process%s",
                  e == -EALREADY ? "" : " before a fork()");
        return e;
    }
    comm_init(c);
    e = fi_settings_resolve(&c->set, config, size);
    if (e == 0)
        e = cluster_join(c);
    has_failed = e < 0;
    state_change(CHANGING, e == 0 ? ON : OFF);
    return e;
}

/* ---- stop ---- */

/* A run without work, which ends well when all ranks make it.  Ranks that make another call get an
 * error, and may then call filch_cluster_stop. */
static void stop_agree(fi_lanes *l)
{
    static const fi_work none;
    uint32_t call = fi_call_hash(FI_CALL_STOP, NULL, 0);
    int result;

    do {
        fi_lanes_begin(l, &none, NULL, 0);
        result = fi_comm_run(call);
        fi_lanes_end(l);
        fi_comm_own.n_stop_runs++;
    } while (result != 0);
}

static void counters_take(fi_comm *c)
{
    filch_stats stats;

    if (filch_stats_get(&stats) == 0)
        c->counters = stats.total;
}

int filch_cluster_stop(void)
{
    fi_comm *c = &fi_comm_own;
    int e = state_change(ON, CHANGING);

    if (e == -EBUSY)
        fi_report(FILCH_LEVEL_ERROR,
                  "filch_cluster_stop: a run is in progress; call it when the run is over");
    else if (e < 0 && !has_failed)
        fi_report(FILCH_LEVEL_ERROR,
                  "filch_cluster_stop: the cluster has not been started in this process");
    if (e < 0)
        return e;
    stop_agree(&c->lanes);
    counters_take(c);
    filch_stop();
    fi_comm_stop();
    fi_store_relaxed(&is_joined, false);
    fi_lanes_fini(&c->lanes);
    own_rank = 0;
    n_ranks = 1;
    fi_report_init(0, 1);
    state_change(CHANGING, OFF);
    return 0;
}

unsigned filch_cluster_rank(void)
{
    return own_rank;
}

unsigned filch_cluster_ranks(void)
{
    return n_ranks;
}
