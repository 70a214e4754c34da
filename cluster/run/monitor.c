#include "report.h"
#include "run/comm.h"

#include <filch/time.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the progress of this rank ---- */

static filch_ranks_row row_make(const fi_comm *c)
{
    const fi_rank_counters *n = &c->rank.counters;
    filch_ranks_row row = {
        .rank = c->place.rank,
        .pid = (uint32_t)getpid(),
        .workers = c->workers,
        .lanes = fi_lanes_running(&c->lanes),
        .items = fi_load_relaxed(&c->lanes.items),
        .loots_in = n->loots_in + n->gifts_in,
        .loots_out = n->loots_out + n->gifts_out,
        .bytes_in = n->bytes_in,
        .bytes_out = n->bytes_out,
        .asks = n->asks + n->lifes,
        .hungry_ns = n->hungry_ns,
    };

    memcpy(row.host, c->host, sizeof row.host);
    return row;
}

static fi_beat_own own_make(const fi_comm *c)
{
    fi_beat_own own = {.row = row_make(c)};

    own.sums = (filch_ranks_sums){
        .run = c->n_runs,
        .items = own.row.items,
        .loots = own.row.loots_in,
        .bytes = own.row.bytes_in,
        .busy = own.row.lanes > 0,
    };
    own.run_items = own.row.items - c->items_before;
    return own;
}

/* ---- heartbeats ---- */

static void beats_send(const fi_comm *c, int64_t now)
{
    fi_beat_own own = own_make(c);

    for (unsigned i = 0; i < c->beats.n; i++) {
        unsigned to = c->beats.neighbours[i].rank;
        fi_packet *p = fi_beats_make(&c->beats, &own, to < c->place.rank, now);

        if (p) /* without memory, the next one may have some */
            fi_comm_send(to, p);
    }
}

/* Is the process stopped by a debugger? */
static bool is_traced(int pid)
{
    char path[64], line[128];
    FILE *in;
    int tracer = 0;

    snprintf(path, sizeof path, "/proc/%d/status", pid);
    in = fopen(path, "re");
    while (in && fgets(line, sizeof line, in))
        if (sscanf(line, "TracerPid: %d", &tracer) == 1)
            break;
    if (in)
        fclose(in);
    return tracer != 0;
}

/* 0: the rank is on another node. */
static int near_pid(const fi_comm *c, unsigned rank)
{
    for (unsigned i = 0; i < c->place.n_near; i++)
        if (c->place.near[i] == rank)
            return (int)c->place.pids[i];
    return 0;
}

static void neighbour_name(char *text, size_t size, const fi_neighbour *n)
{
    const filch_ranks_row *row = fi_beats_row(n);

    if (row)
        snprintf(text, size, "rank %u (%.*s, pid %u)", n->rank, (int)sizeof row->host, row->host,
                 row->pid);
    else
        snprintf(text, size, "rank %u", n->rank);
}

static void silence_check(const fi_comm *c, fi_neighbour *n, int64_t now)
{
    fi_silence silence = fi_beats_check(&c->beats, n, now);
    double seconds = (double)(now - n->heard_ns) * 1e-9;
    int pid = near_pid(c, n->rank);
    char who[128];

    if (silence == FI_HEARD || (pid != 0 && is_traced(pid)))
        return;
    neighbour_name(who, sizeof who, n);
    if (silence == FI_SILENT) {
        fi_report(FILCH_LEVEL_WARNING, "%s has been silent for %.1f s", who, seconds);
        return;
    }
    fi_report(FILCH_LEVEL_ERROR,
              "%s has been silent for %.1f s and counts as dead; all ranks end "
              "(FILCH_CLUSTER_SILENCE_MS sets the time)",
              who, seconds);
    fi_comm_abort();
}

/* Launchers end their processes, unless they are killed. */
static void launcher_check(const fi_comm *c)
{
    if (c->launcher == 0 || getppid() == c->launcher)
        return;
    fi_report(FILCH_LEVEL_ERROR, "the launcher (pid %d) has died; this rank ends",
              (int)c->launcher);
    fi_comm_abort();
}

/* ---- progress of all ranks, on rank 0 ---- */

static void page_update(const fi_comm *c, const fi_packet *p, int64_t now)
{
    const fi_beat *beat = fi_beat_of(p);
    filch_ranks_sums sums = beat->sums;

    sums.updated_ns = (uint64_t)now;
    sums.run_started_ns = c->is_in_run ? (uint64_t)c->run_started_ns : 0;
    for (size_t i = 0; i < fi_beat_n_rows(p); i++) {
        filch_ranks_row row = beat->rows[i];

        row.heard_ns = (uint64_t)now - row.heard_ns;
        fi_ranks_page_update(c->page, &row);
    }
    fi_ranks_page_sums(c->page, &sums);
}

/* "81.2 M", for example. */
static void number_format(char *text, size_t size, double value)
{
    static const char units[] = " kMGT";
    unsigned i = 0;

    while (value >= 999.95 && units[i + 1] != '\0') {
        value /= 1000;
        i++;
    }
    if (i == 0)
        snprintf(text, size, "%.0f", value);
    else
        snprintf(text, size, "%.1f %c", value, units[i]);
}

static void progress_print(const filch_progress *now)
{
    char items[32], rate[32], line[200];

    number_format(items, sizeof items, (double)now->items);
    number_format(rate, sizeof rate, now->seconds > 0 ? (double)now->items / now->seconds : 0);
    snprintf(line, sizeof line,
             "%.1f s  %s items  %s/s  %u of %u ranks busy  oldest silence %.1f s", now->seconds,
             items, rate, now->busy, now->ranks, (double)now->oldest_silence_ns * 1e-9);
    filch_message_(FILCH_LEVEL_INFO, line);
}

static void progress_report(const fi_comm *c, const fi_packet *p, int64_t now)
{
    const fi_beat *beat = fi_beat_of(p);
    const filch_progress progress = {
        .items = beat->run_items,
        .seconds = (double)(now - c->run_started_ns) * 1e-9,
        .ranks = c->place.ranks,
        .busy = (unsigned)beat->sums.busy,
        .oldest_silence_ns = (int64_t)beat->sums.silence_ns,
    };

    if (c->set.progress)
        c->set.progress(&progress, c->set.progress_ctx);
    else
        progress_print(&progress);
}

static bool progress_is_due(const fi_comm *c, int64_t now)
{
    return c->set.progress_ns > 0 && c->is_in_run && now >= c->progress_at;
}

/* [rank 0] Publish the progress of all ranks, as the last heartbeats say. */
static void all_report(fi_comm *c, int64_t now)
{
    fi_beat_own own = own_make(c);
    fi_packet *p = fi_beats_make(&c->beats, &own, true, now);

    if (p) {
        page_update(c, p, now);
        if (progress_is_due(c, now))
            progress_report(c, p, now);
        fi_packet_free(p);
    }
    if (progress_is_due(c, now))
        c->progress_at += (1 + (now - c->progress_at) / c->set.progress_ns) * c->set.progress_ns;
}

/* ---- calls of the thread ---- */

void fi_monitor_init(fi_comm *c)
{
    if (c->place.rank == 0)
        c->page = fi_ranks_page_open(c->place.ranks, c->started_ns);
}

void fi_monitor_step(fi_comm *c, int64_t now)
{
    bool is_root = c->place.rank == 0;

    if (!fi_beats_due(&c->beats, now)) {
        if (is_root && progress_is_due(c, now))
            all_report(c, now);
        return;
    }
    launcher_check(c);
    beats_send(c, now);
    for (unsigned i = 0; i < c->beats.n && !fi_gather_is_ending(&c->gather); i++)
        silence_check(c, &c->beats.neighbours[i], now);
    if (is_root)
        all_report(c, now);
}

int64_t fi_monitor_deadline(const fi_comm *c)
{
    bool has_progress = c->place.rank == 0 && c->set.progress_ns > 0 && c->is_in_run;

    return has_progress && c->progress_at < c->beats.next_ns ? c->progress_at : c->beats.next_ns;
}

void fi_monitor_fini(fi_comm *c)
{
    fi_ranks_page_close(c->page);
    c->page = NULL;
}
