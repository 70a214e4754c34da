#include "run/gather.h"

#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <filch/time.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 1 << 20 };

/* head.a of a QUERY and of its REPLY; head.b is the position. */
typedef enum query {
    QUERY_TIME,    /* position: of the sample */
    QUERY_SUMMARY, /* body: fi_summary */
    QUERY_FILE,    /* position: a byte; body: the bytes from there, none after the end */
    QUERY_LOOTS,   /* position: an entry; body: entries from there, none after the end */
    QUERY_END,     /* rank 0 has received everything.  No reply.  position: 1 if the merged trace
                    * was written */
} query;

/* p: with its body; NULL: there is no memory. */
static void message_send(fi_gather *g, unsigned to, fi_kind kind, const fi_header *head,
                         fi_packet *p)
{
    if (p)
        p->head =
            (fi_header){.kind = (uint16_t)kind, .from = g->set.rank, .a = head->a, .b = head->b};
    g->set.send(to, p);
}

/* ---- replies ---- */

static fi_packet *bytes_pack(const void *bytes, size_t n)
{
    fi_packet *p = fi_packet_new(n);

    if (p && n > 0)
        memcpy(p->body, bytes, n);
    return p;
}

/* A file that cannot be read ends here.  The merged trace then says that it has no end. */
static fi_packet *file_pack(const char *file, uint64_t position)
{
    fi_packet *p = fi_packet_new(PIECE);
    int fd = file ? open(file, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t n = 0;

    if (p && fd >= 0)
        n = pread(fd, p->body, PIECE, (off_t)position);
    if (fd >= 0)
        close(fd);
    if (p)
        p->size = n > 0 ? (size_t)n : 0;
    return p;
}

static fi_packet *loots_pack(const fi_loot_log *log, uint64_t position)
{
    size_t max = PIECE / sizeof *log->entries;
    size_t left = log && position < log->n ? log->n - (size_t)position : 0;

    return bytes_pack(left > 0 ? log->entries + position : NULL,
                      (left < max ? left : max) * sizeof *log->entries);
}

static fi_packet *reply_pack(const fi_gather *g, const fi_header *q)
{
    int64_t now;

    switch ((query)q->a) {
    case QUERY_TIME:
        now = filch_now();
        return bytes_pack(&now, sizeof now);
    case QUERY_SUMMARY:
        return bytes_pack(&g->summary, sizeof g->summary);
    case QUERY_FILE:
        return file_pack(g->file, q->b);
    case QUERY_LOOTS:
        return loots_pack(g->loots, q->b);
    default:
        return fi_packet_new(0);
    }
}

/* A trace that is in the merged one is not kept. */
static void gather_over(fi_gather *g, bool is_merged)
{
    g->phase = FI_GATHER_DONE;
    if (is_merged && g->file)
        unlink(g->file);
}

static void query_answer(fi_gather *g, const fi_header *q)
{
    if (q->a == QUERY_END)
        gather_over(g, q->b != 0);
    else
        message_send(g, q->from, FI_REPLY, q, reply_pack(g, q));
}

/* Everything but the time is known when the runtime has stopped. */
static void query_receive(fi_gather *g, fi_packet *p)
{
    if (p->head.a == QUERY_TIME || g->has_summary) {
        query_answer(g, &p->head);
        fi_packet_free(p);
    } else {
        fi_packet_free(g->early);
        g->early = p;
    }
}

/* ---- rank 0 ---- */

static void ask(fi_gather *g, query what, uint64_t position)
{
    const fi_header head = {.a = what, .b = position};

    message_send(g, g->at, FI_QUERY, &head, fi_packet_new(0));
}

static bool needs_time(const fi_gather *g)
{
    return g->start && !g->set.is_near(g->at);
}

static fi_clock_sample *sample_of(fi_gather *g)
{
    fi_clock_sample *set = g->phase == FI_GATHER_START ? g->start : g->stop;

    return &set[(size_t)g->at * FI_CLOCK_SAMPLES + g->n_samples];
}

static void time_ask(fi_gather *g)
{
    sample_of(g)->sent_ns = filch_now();
    ask(g, QUERY_TIME, g->n_samples);
}

/* The samples are of the clock of rank 0 against that of the rank.  The map goes the other way. */
static fi_clock_map clock_of(fi_gather *g)
{
    const size_t first = (size_t)g->at * FI_CLOCK_SAMPLES;
    fi_clock_map to_rank;

    if (!needs_time(g))
        return (fi_clock_map){0};
    to_rank = fi_clock_sync(&g->start[first], FI_CLOCK_SAMPLES, &g->stop[first], FI_CLOCK_SAMPLES);
    return fi_clock_map_invert(&to_rank);
}

/* In the stop phase the queries are SUMMARY; TIME, if it is needed; FILE and LOOTS, if there is a
 * trace. */
static void rank_begin(fi_gather *g)
{
    g->n_samples = 0;
    if (g->phase == FI_GATHER_STOP)
        ask(g, QUERY_SUMMARY, 0);
    else
        time_ask(g);
}

static void phase_end(fi_gather *g);

static void rank_next(fi_gather *g)
{
    do
        g->at++;
    while (g->phase == FI_GATHER_START && g->at < g->set.ranks && !needs_time(g));
    if (g->at < g->set.ranks)
        rank_begin(g);
    else
        phase_end(g);
}

static void phase_begin(fi_gather *g, fi_gather_phase phase)
{
    g->phase = phase;
    g->at = 0;
    rank_next(g);
}

/* [rank 0] Print what was asked for, and release the other ranks. */
static void gather_end(fi_gather *g)
{
    bool is_merged = g->merged && fi_merged_trace_close(g->merged) == 0;

    g->merged = NULL;
    if (g->set.prints_stats && g->rows)
        fi_stats_table_print(g->rows, g->set.ranks);
    for (g->at = 1; g->at < g->set.ranks; g->at++)
        ask(g, QUERY_END, is_merged);
    gather_over(g, is_merged);
}

static void root_gather(fi_gather *g);

static void phase_end(fi_gather *g)
{
    if (g->phase == FI_GATHER_START) {
        g->phase = FI_GATHER_IDLE;
        if (g->has_summary) /* the job was shorter than this phase */
            root_gather(g);
        return;
    }
    gather_end(g);
}

static void source_begin(fi_gather *g, const fi_summary *s)
{
    fi_merged_trace_rank(g->merged, &(fi_trace_source){.rank = g->at,
                                                       .pid = (int)s->pid,
                                                       .host = s->host,
                                                       .clock = clock_of(g),
                                                       .loots_dropped = s->loots_dropped});
}

static void trace_ask(fi_gather *g)
{
    if (g->merged)
        ask(g, QUERY_FILE, 0);
    else
        rank_next(g);
}

static void summary_take(fi_gather *g, const fi_packet *p)
{
    fi_summary s = {0};

    if (p->size == sizeof s)
        memcpy(&s, p->body, sizeof s);
    s.host[sizeof s.host - 1] = '\0';
    if (g->rows)
        g->rows[g->at] = s.stats;
    g->summary = s; /* until the samples of the clock are complete */
    if (g->merged && needs_time(g)) {
        time_ask(g);
        return;
    }
    if (g->merged)
        source_begin(g, &s);
    trace_ask(g);
}

static void time_take(fi_gather *g, const fi_packet *p)
{
    fi_clock_sample *s = sample_of(g);

    s->received_ns = filch_now();
    if (p->size == sizeof s->remote_ns)
        memcpy(&s->remote_ns, p->body, sizeof s->remote_ns);
    if (++g->n_samples < FI_CLOCK_SAMPLES) {
        time_ask(g);
    } else if (g->phase == FI_GATHER_START) {
        rank_next(g);
    } else {
        source_begin(g, &g->summary);
        trace_ask(g);
    }
}

/* A piece of size 0 is the last one.  After an error of the merged file, nothing more is needed. */
static void piece_take(fi_gather *g, const fi_packet *p)
{
    bool is_file = p->head.a == QUERY_FILE, is_last = p->size == 0;
    uint64_t step = p->size / (is_file ? 1 : sizeof(fi_loot));

    if (is_file && !is_last)
        is_last = fi_merged_trace_append(g->merged, p->body, p->size) < 0;
    else if (!is_file)
        fi_merged_trace_loots(g->merged, (const fi_loot *)(const void *)p->body, step);
    if (!is_last)
        ask(g, (query)p->head.a, p->head.b + step);
    else if (is_file)
        ask(g, QUERY_LOOTS, 0);
    else
        rank_next(g);
}

static bool reply_is_expected(const fi_gather *g, const fi_packet *p)
{
    bool is_asking = g->phase == FI_GATHER_START || g->phase == FI_GATHER_STOP;

    return is_asking && g->set.rank == 0 && p->head.from == g->at &&
           (p->head.a == QUERY_TIME
                ? g->start != NULL
                : g->phase == FI_GATHER_STOP && (p->head.a == QUERY_SUMMARY || g->merged));
}

bool fi_gather_receive(fi_gather *g, fi_packet *p)
{
    if (p->head.kind == FI_QUERY) {
        query_receive(g, p);
        return true;
    }
    if (!reply_is_expected(g, p)) {
        fi_packet_free(p);
        return false;
    }
    if (p->head.a == QUERY_SUMMARY)
        summary_take(g, p);
    else if (p->head.a == QUERY_TIME)
        time_take(g, p);
    else
        piece_take(g, p);
    fi_packet_free(p);
    return true;
}

/* ---- begin and end ---- */

/* Without memory there are no samples, and the clocks count as equal. */
static void samples_alloc(fi_gather *g)
{
    size_t n = (size_t)g->set.ranks * FI_CLOCK_SAMPLES;

    g->start = calloc(n, sizeof *g->start);
    g->stop = calloc(n, sizeof *g->stop);
    if (g->start && g->stop)
        return;
    free(g->start);
    free(g->stop);
    g->start = g->stop = NULL;
}

void fi_gather_start(fi_gather *g, const fi_gather_config *set)
{
    *g = (fi_gather){.set = *set};
    if (set->rank != 0 || !set->trace)
        return;
    samples_alloc(g);
    if (g->start)
        phase_begin(g, FI_GATHER_START);
}

/* [rank 0] All that this rank can tell is known.  Ask the others. */
static void others_ask(fi_gather *g)
{
    if (g->merged || g->set.prints_stats)
        phase_begin(g, FI_GATHER_STOP);
    else
        gather_end(g);
}

/* [rank 0] No query is open. */
static void root_gather(fi_gather *g)
{
    if (!g->merged) {
        others_ask(g);
        return;
    }
    g->at = 0;
    source_begin(g, &g->summary);
    g->merges_own = true;
    g->own_position = 0;
}

/* The trace of rank 0 itself, without messages. */
bool fi_gather_step(fi_gather *g)
{
    fi_packet *p;

    if (!g->merges_own)
        return false;
    p = file_pack(g->file, g->own_position);
    if (p && p->size > 0) {
        g->own_position += p->size;
        fi_merged_trace_append(g->merged, p->body, p->size);
    } else {
        g->merges_own = false;
        if (g->loots)
            fi_merged_trace_loots(g->merged, g->loots->entries, g->loots->n);
        others_ask(g);
    }
    fi_packet_free(p);
    return true;
}

static void root_stop(fi_gather *g)
{
    g->rows = calloc(g->set.ranks, sizeof *g->rows);
    if (g->rows)
        g->rows[0] = g->summary.stats;
    else if (g->set.prints_stats)
        fi_report(FILCH_LEVEL_WARNING, "FILCH_STATS: no memory for the counters of the ranks");
    if (g->set.trace && fi_merged_trace_open(&g->merged, g->set.trace, g->set.ranks) < 0)
        g->merged = NULL;
    if (g->phase != FI_GATHER_START) /* otherwise phase_end continues */
        root_gather(g);
}

void fi_gather_stop(fi_gather *g, const fi_summary *own, const char *file, const fi_loot_log *loots)
{
    fi_packet *early = g->early;

    g->has_summary = true;
    g->summary = *own;
    g->file = file;
    g->loots = loots;
    g->early = NULL;
    if (g->set.rank == 0)
        root_stop(g);
    else if (early)
        query_answer(g, &early->head);
    fi_packet_free(early);
}

bool fi_gather_is_ending(const fi_gather *g)
{
    return fi_gather_is_over(g) || (g->early && g->early->head.a == QUERY_END);
}

void fi_gather_fini(fi_gather *g)
{
    fi_packet_free(g->early);
    free(g->rows);
    free(g->start);
    free(g->stop);
    *g = (fi_gather){0};
}
