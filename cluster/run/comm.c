#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pthread_setname_np */
#endif
#include "run/comm.h"

#include "report.h"
#include "workers.h"

#include <errno.h>
#include <filch/time.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ANSWER_NS INT64_C(200000)

fi_comm fi_comm_own;

void fi_comm_ring(void)
{
    fi_comm_own.net->ring();
}

void fi_comm_abort(void)
{
    fi_comm_own.net->stop(1);
}

/* ---- messages ---- */

static void network_check(int e)
{
    if (e == 0)
        return;
    if (e == -ENOMEM)
        fi_report(FILCH_LEVEL_ERROR, "there is no memory for a message; all ranks end");
    else if (e == -EMSGSIZE)
        fi_report(FILCH_LEVEL_ERROR, "a message is too large for MPI; all ranks end");
    else if (e == -EPROTO)
        fi_report(FILCH_LEVEL_ERROR, "an unexpected message arrived; all ranks end.  Run the same "
                                     "version of the program on all ranks");
    fi_comm_abort(); /* after -EIO the transport has reported a line */
}

void fi_comm_send(unsigned to, fi_packet *p)
{
    network_check(p ? fi_sends_push(&fi_comm_own.sends, to, p) : -ENOMEM);
}

static bool is_loot(const fi_packet *p)
{
    return p->head.kind == FI_LOOT || p->head.kind == FI_GIFT;
}

/* number: the sender's count of sent loots. */
static void loot_log(fi_comm *c, const fi_packet *p, uint32_t peer, bool is_out)
{
    if (c->own_trace)
        fi_loot_log_append(&c->loots, &(fi_loot){.ns = filch_now(),
                                                 .number = p->head.a,
                                                 .bytes = p->size,
                                                 .peer = peer,
                                                 .kind = p->head.kind,
                                                 .is_out = is_out});
}

static void message_handle(fi_comm *c, fi_packet *p, int64_t now)
{
    bool is_valid = true;

    fi_beats_heard(&c->beats, p->head.from, now);
    switch (p->head.kind) {
    case FI_BEAT:
        is_valid = fi_beats_receive(&c->beats, p, now);
        break;
    case FI_QUERY:
    case FI_REPLY:
        is_valid = fi_gather_receive(&c->gather, p);
        break;
    default:
        fi_rank_receive(&c->rank, p, now);
    }
    if (!is_valid)
        network_check(-EPROTO);
}

/* Returns true: there was a message. */
static bool messages_handle(fi_comm *c, int64_t now)
{
    bool has_news = false;
    fi_packet *p;
    int e = 0;

    while ((p = c->net->poll(&e)) != NULL) {
        message_handle(c, p, now);
        has_news = true;
    }
    network_check(e);
    return has_news;
}

/* ---- host of the protocol ---- */

static void host_send(void *ctx, unsigned to, fi_packet *p)
{
    fi_comm *c = ctx;

    if (is_loot(p)) {
        p->head.a = ++c->n_loots_sent;
        loot_log(c, p, to, true);
    }
    fi_comm_send(to, p);
}

static fi_activity host_activity(void *ctx)
{
    return fi_lanes_activity(&((fi_comm *)ctx)->lanes);
}

static void host_want(void *ctx, unsigned n)
{
    fi_lanes_want(&((fi_comm *)ctx)->lanes, n);
}

static void host_open(void *ctx, fi_packet *p)
{
    fi_comm *c = ctx;

    loot_log(c, p, p->head.from, false);
    fi_lanes_open(&c->lanes, p);
}

static void host_drop(void *ctx)
{
    fi_lanes_drop(&((fi_comm *)ctx)->lanes);
}

static void host_combine(void *ctx, const void *other)
{
    const fi_work *w = &((fi_comm *)ctx)->lanes.work;

    w->combine(w->acc, other, w->combine_ctx);
}

static void host_leave(void *ctx, int result)
{
    fi_comm *c = ctx;

    c->is_in_run = false;
    c->items_before = fi_load_relaxed(&c->lanes.items);
    c->run_result = result;
    c->run_ns += filch_now() - c->run_started_ns;
    filch_mutex_unlock(&c->run_over);
}

static void host_fail(void *ctx, int error)
{
    (void)ctx;
    network_check(error);
}

static const fi_host host = {
    .send = host_send,
    .activity = host_activity,
    .want = host_want,
    .open = host_open,
    .drop = host_drop,
    .combine = host_combine,
    .leave = host_leave,
    .fail = host_fail,
};

static void rank_init(fi_comm *c)
{
    const fi_rank_settings set = {
        .rank = c->place.rank,
        .ranks = c->place.ranks,
        .n_near = c->place.n_near,
        .near = c->place.near,
        .random_tries = c->set.random_tries,
        .answer_ns = ANSWER_NS,
        .seed = (uint64_t)c->started_ns,
    };

    fi_rank_init(&c->rank, &set, &host, c);
}

/* ---- requests ---- */

static void run_begin(fi_comm *c, uint32_t call, int64_t now)
{
    const fi_work *w = &c->lanes.work;

    c->is_in_run = true;
    c->n_runs++;
    c->progress_at = c->run_started_ns + c->set.progress_ns;
    fi_rank_begin(&c->rank, call, w->acc, w->acc_size, now);
}

static int64_t thread_cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void summary_make(const fi_comm *c, fi_summary *s)
{
    *s = (fi_summary){
        .stats =
            {
                .protocol = c->rank.counters,
                .items = fi_load_relaxed(&c->lanes.items),
                .lanes_started = c->lanes.started,
                .wakeups = c->n_wakeups,
                .thread_cpu_ns = (uint64_t)(thread_cpu_ns() - c->started_cpu_ns),
                .run_ns = (uint64_t)c->run_ns,
                .runs = c->n_runs - c->n_stop_runs,
                .workers = c->counters,
            },
        .loots_dropped = c->loots.dropped,
        .pid = (uint64_t)getpid(),
    };
    memcpy(s->host, c->host, sizeof c->host);
}

static void stop_begin(fi_comm *c)
{
    fi_summary own;

    summary_make(c, &own);
    fi_gather_stop(&c->gather, &own, c->own_trace, &c->loots);
}

/* Returns true: there was a request. */
static bool request_handle(fi_comm *c, int64_t now)
{
    fi_request r;

    pthread_mutex_lock(&c->request.lock);
    r = c->request;
    c->request.has_run = c->request.has_stop = false;
    pthread_mutex_unlock(&c->request.lock);
    if (r.has_run)
        run_begin(c, r.call, now);
    if (r.has_stop)
        stop_begin(c);
    return r.has_run || r.has_stop;
}

static void request_post(uint32_t call, bool is_stop)
{
    fi_request *r = &fi_comm_own.request;

    pthread_mutex_lock(&r->lock);
    r->has_run = !is_stop;
    r->has_stop = is_stop;
    r->call = call;
    fi_comm_ring(); /* before the thread can see a stop, after which there is no doorbell */
    pthread_mutex_unlock(&r->lock);
}

/* ---- the loop ---- */

/* No activity is read between the loots and the step: see protocol/termination.c. */
static bool run_step(fi_comm *c, int64_t now)
{
    bool has_news = false;
    int result = 0;
    fi_packet *p;

    if (c->rank.phase == FI_RUNNING) {
        result = fi_lanes_take_result(&c->lanes);
        if (result != 0)
            fi_rank_stop(&c->rank, result);
        while ((p = fi_lanes_take_loot(&c->lanes)) != NULL) {
            has_news = true;
            if (!fi_rank_give(&c->rank, p))
                fi_lanes_open(&c->lanes, p); /* no thief waits any more */
        }
    }
    fi_rank_step(&c->rank, now);
    return has_news || result != 0;
}

/* Lanes share their work between two items.  While they are inside long items, this thread does,
 * before a question expires and from time to time. */
static bool needs_help(const fi_comm *c)
{
    return c->rank.phase == FI_RUNNING && fi_lanes_need_help(&c->lanes);
}

static fi_pace_for pace_for(const fi_comm *c)
{
    if (needs_help(c))
        return FI_PACE_HELP;
    return c->rank.thief.hungry_since >= 0 && c->place.ranks > 1 ? FI_PACE_WORK : FI_PACE_RINGS;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void nap(fi_comm *c, int64_t now)
{
    int64_t ns = fi_pace_nap(&c->pace, pace_for(c), now);
    int64_t until = earlier(fi_rank_deadline(&c->rank), fi_monitor_deadline(c));

    ns = earlier(ns, until - now);
    if (ns <= 0)
        return;
    c->n_wakeups += c->net->wait(ns);
    if (needs_help(c))
        fi_lanes_help(&c->lanes);
}

static void comm_loop(fi_comm *c)
{
    while (!fi_gather_is_over(&c->gather)) {
        int64_t now = filch_now();
        bool has_news = messages_handle(c, now);

        has_news |= request_handle(c, now);
        has_news |= run_step(c, now);
        has_news |= fi_gather_step(&c->gather);
        network_check(fi_sends_flush(&c->sends));
        fi_monitor_step(c, now);
        if (has_news)
            fi_pace_news(&c->pace, now);
        else
            nap(c, now);
    }
}

/* ---- begin and end of the thread ---- */

static bool is_near(unsigned rank)
{
    const fi_place *p = &fi_comm_own.place;

    for (unsigned i = 0; i < p->n_near; i++)
        if (p->near[i] == rank)
            return true;
    return false;
}

static void thread_open(fi_comm *c)
{
    const char *why = NULL;
    int e = c->net->open(&c->net_config, &c->place, &why);

    c->open_error = e;
    if (e < 0)
        fi_report(FILCH_LEVEL_ERROR, "filch_cluster_start: %s", why ? why : strerror(-e));
    else
        fi_report_init(c->place.rank, c->place.ranks);
}

static void thread_begin(fi_comm *c)
{
    c->started_ns = filch_now();
    c->started_cpu_ns = thread_cpu_ns(); /* the start of MPI does not count */
    rank_init(c);
    c->sends.net = c->net;
    fi_pace_init(&c->pace, c->place.is_polled, !fi_workers_lack_cpus(&c->place));
    fi_beats_init(&c->beats, c->place.rank, c->place.ranks, c->set.silence_ns, c->started_ns);
    fi_loot_log_init(&c->loots);
    fi_monitor_init(c);
    fi_gather_start(&c->gather, &(fi_gather_config){.rank = c->place.rank,
                                                    .ranks = c->place.ranks,
                                                    .prints_stats = c->prints_stats,
                                                    .trace = c->trace,
                                                    .is_near = is_near,
                                                    .send = fi_comm_send});
}

/* All messages are on their way to ranks that wait for them. */
static void thread_end(fi_comm *c)
{
    while (c->sends.n > 0) {
        int e = 0;

        network_check(fi_sends_flush(&c->sends));
        fi_packet_free(c->net->poll(&e)); /* completes sends; only a BEAT may arrive */
        network_check(e);
    }
    c->net->close();
    fi_monitor_fini(c);
    fi_gather_fini(&c->gather);
    fi_beats_fini(&c->beats);
    fi_sends_fini(&c->sends);
    fi_loot_log_fini(&c->loots);
}

/* A signal of the program must not run its handler here, where it would delay messages.  A broken
 * pipe is an error of the trace file, and not the end of the program. */
static void signals_block(void)
{
    sigset_t all;

    sigfillset(&all);
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGFPE);
    sigdelset(&all, SIGILL);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
}

static void *thread_main(void *arg)
{
    fi_comm *c = arg;

    pthread_setname_np(pthread_self(), "filch-cluster");
    signals_block();
    thread_open(c);
    sem_post(&c->opened);
    if (c->open_error < 0)
        return NULL;
    while (sem_wait(&c->begun) < 0)
        ; /* interrupted */
    thread_begin(c);
    comm_loop(c);
    thread_end(c);
    return NULL;
}

/* ---- calls of the program ---- */

static void opened_await(fi_comm *c)
{
    while (sem_wait(&c->opened) < 0)
        ; /* interrupted */
}

/* Returns false: the time is over. */
static bool opened_await_for(fi_comm *c, int64_t ns)
{
    struct timespec until;
    int e;

    clock_gettime(CLOCK_REALTIME, &until);
    ns += until.tv_nsec;
    until.tv_sec += ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    do
        e = sem_timedwait(&c->opened, &until);
    while (e < 0 && errno == EINTR);
    return e == 0;
}

/* MPI waits for all ranks without a limit and without a message.  A slow rank and a rank that has
 * stopped look the same, so this is not an error. */
static void open_watch(fi_comm *c)
{
    if (c->set.silence_ns == INT64_MAX) {
        opened_await(c);
        return;
    }
    if (opened_await_for(c, c->set.silence_ns))
        return;
    fi_report(FILCH_LEVEL_WARNING,
              "filch_cluster_start: pid %d has waited for %lld s for the other ranks; look for a "
              "rank that has not called filch_cluster_start or is stopped",
              (int)getpid(), (long long)(c->set.silence_ns / 1000000000));
    opened_await(c);
}

int fi_comm_open(void)
{
    fi_comm *c = &fi_comm_own;
    int e;

    sem_init(&c->opened, 0, 0);
    sem_init(&c->begun, 0, 0);
    pthread_mutex_init(&c->request.lock, NULL);
    e = -pthread_create(&c->thread, NULL, thread_main, c);
    if (e < 0) {
        fi_report(FILCH_LEVEL_ERROR, "filch_cluster_start: cannot create a thread (%s)",
                  strerror(-e));
        return e;
    }
    open_watch(c);
    if (c->open_error < 0)
        pthread_join(c->thread, NULL);
    return c->open_error;
}

void fi_comm_begin(void)
{
    sem_post(&fi_comm_own.begun);
}

/* A mutex, because a cancelled fiber still waits for it. */
int fi_comm_run(uint32_t call)
{
    fi_comm *c = &fi_comm_own;

    filch_mutex_lock(&c->run_over);
    c->run_started_ns = filch_now();
    request_post(call, false);
    filch_mutex_lock(&c->run_over);
    filch_mutex_unlock(&c->run_over);
    return c->run_result;
}

void fi_comm_stop(void)
{
    fi_comm *c = &fi_comm_own;

    request_post(0, true);
    pthread_join(c->thread, NULL);
    pthread_mutex_destroy(&c->request.lock);
    sem_destroy(&c->opened);
    sem_destroy(&c->begun);
}
