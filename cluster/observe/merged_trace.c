/* Split the files into lines, rewrite them (trace_lines.c), and add the loots (loot_arrows.c).
 *
 * Time 0 of the merged trace is before the start of the first rank's trace, because other ranks may
 * have started earlier.  Viewers start at the first event. */
#include "observe/merged_trace.h"

#include "observe/event_file.h"
#include "observe/loot_arrows.h"
#include "observe/trace_lines.h"

#include <errno.h>
#include <filch/message.h>
#include <filch/version.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_SIZE_MAX ((size_t)1 << 16)
#define HOST_SIZE     65
#define EARLIER_NS    INT64_C(1000000000000) /* time 0 is this long before the first trace */
#define MESSAGE_SIZE  512

/* The part of a rank's file that comes next. */
typedef enum part { PART_HEAD, PART_EVENTS, PART_NONE, PART_DAMAGED } part;

struct fi_merged_trace {
    unsigned ranks, n_seen;
    bool *is_seen;             /* by rank */
    bool has_rank, has_origin; /* a rank is being read; origin_ns is set */
    int64_t origin_ns;

    /* The rank that is being read. */
    fi_trace_lines lines;
    char host[HOST_SIZE];
    int pid;
    part part;
    uint64_t n_lines;
    size_t line_n; /* bytes of an incomplete line */

    uint64_t overwritten, loots_dropped;
    fi_loot_arrows arrows;
    fi_event_file file;
    char line[LINE_SIZE_MAX];
};

__attribute__((format(printf, 2, 3))) static void report(filch_level level, const char *format, ...)
{
    char text[MESSAGE_SIZE];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    filch_message_(level, text);
}

static int report_error(const char *path, int e)
{
    report(FILCH_LEVEL_ERROR, "FILCH_TRACE: cannot write %.300s: %s", path, strerror(-e));
    return e;
}

/* ---- open ---- */

static int trace_init(fi_merged_trace *m, const char *path, unsigned ranks)
{
    int e;

    m->ranks = ranks;
    m->is_seen = calloc(ranks, sizeof *m->is_seen);
    if (!m->is_seen)
        return -ENOMEM;
    e = fi_event_file_open(&m->file, path);
    if (e < 0)
        return e;
    fi_event_file_text(&m->file, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    return 0;
}

int fi_merged_trace_open(fi_merged_trace **out, const char *path, unsigned ranks)
{
    fi_merged_trace *m = calloc(1, sizeof *m);
    int e = m ? trace_init(m, path, ranks) : -ENOMEM;

    if (e < 0) {
        if (m)
            free(m->is_seen);
        free(m);
        return report_error(path, e);
    }
    *out = m;
    return 0;
}

/* ---- one rank ---- */

/* Plain characters need no escapes in JSON. */
static void copy_host(char *to, size_t size, const char *from)
{
    size_t n = 0;

    for (; from[n] && n + 1 < size; n++)
        to[n] =
            (char)(from[n] > ' ' && from[n] <= '~' && from[n] != '"' && from[n] != '\\' ? from[n]
                                                                                        : '?');
    to[n] = '\0';
}

/* The rest of the line says what is missing. */
static void report_damage(const fi_merged_trace *m)
{
    char who[MESSAGE_SIZE / 2];

    snprintf(who, sizeof who, "rank %u (%s, pid %d)", m->lines.rank, m->host, m->pid);
    if (m->part == PART_HEAD && m->n_lines == 0 && m->line_n == 0)
        report(FILCH_LEVEL_WARNING,
               "FILCH_TRACE: %s wrote no trace; the merged trace is without it", who);
    else if (m->part == PART_DAMAGED)
        report(FILCH_LEVEL_WARNING,
               "FILCH_TRACE: the trace of %s is damaged in line %" PRIu64
               "; the merged trace has its events before that line",
               who, m->n_lines);
    else
        report(FILCH_LEVEL_WARNING,
               "FILCH_TRACE: the trace of %s has no end; the merged trace has its first %" PRIu64
               " lines",
               who, m->n_lines);
}

static void rank_end(fi_merged_trace *m)
{
    if (m->has_rank && m->part != PART_NONE)
        report_damage(m);
    m->has_rank = false;
}

int fi_merged_trace_rank(fi_merged_trace *m, const fi_trace_source *source)
{
    if (source->rank >= m->ranks || m->is_seen[source->rank])
        return -EINVAL;
    rank_end(m);
    m->is_seen[source->rank] = true;
    m->n_seen++;
    m->has_rank = true;
    copy_host(m->host, sizeof m->host, source->host);
    m->pid = source->pid;
    m->part = PART_HEAD;
    m->n_lines = 0;
    m->line_n = 0;
    m->loots_dropped += source->loots_dropped;
    m->lines = (fi_trace_lines){
        .rank = source->rank, .host = m->host, .clock = source->clock, .origin_ns = m->origin_ns};
    fi_trace_lines_begin(&m->lines, &m->file);
    return m->file.error;
}

static void set_origin(fi_merged_trace *m, int64_t monotonic_ns)
{
    if (!m->has_origin)
        m->origin_ns = fi_clock_map_apply(&m->lines.clock, monotonic_ns) - EARLIER_NS;
    m->has_origin = true;
    m->lines.origin_ns = m->origin_ns;
}

static bool is_end(const char *line, size_t n)
{
    return n == 2 && memcmp(line, "]}", 2) == 0;
}

static void on_line(fi_merged_trace *m, const char *line, size_t n)
{
    bool is_valid = true;

    if (m->part == PART_DAMAGED)
        return;
    m->n_lines++;
    if (m->part == PART_HEAD) {
        is_valid = fi_trace_lines_head(&m->lines, line, n);
        if (is_valid)
            set_origin(m, m->lines.start_ns);
        m->overwritten += is_valid ? m->lines.overwritten : 0;
        m->part = PART_EVENTS;
    } else if (m->part == PART_EVENTS && is_end(line, n)) {
        m->part = PART_NONE;
    } else {
        is_valid = m->part == PART_EVENTS && fi_trace_lines_event(&m->lines, &m->file, line, n);
    }
    if (!is_valid)
        m->part = PART_DAMAGED;
}

/* A line that does not fit is damaged: its events are much shorter. */
static void keep_line(fi_merged_trace *m, const char *bytes, size_t n)
{
    if (n > sizeof m->line - m->line_n) {
        m->n_lines += m->part != PART_DAMAGED;
        m->part = PART_DAMAGED;
        return;
    }
    memcpy(m->line + m->line_n, bytes, n);
    m->line_n += n;
}

int fi_merged_trace_append(fi_merged_trace *m, const void *bytes, size_t n)
{
    const char *p = bytes, *end = p + n, *newline;

    while (m->part != PART_DAMAGED && p < end &&
           (newline = memchr(p, '\n', (size_t)(end - p))) != NULL) {
        if (m->line_n == 0) {
            on_line(m, p, (size_t)(newline - p));
        } else {
            keep_line(m, p, (size_t)(newline - p));
            on_line(m, m->line, m->line_n);
            m->line_n = 0;
        }
        p = newline + 1;
    }
    if (m->part != PART_DAMAGED && p < end)
        keep_line(m, p, (size_t)(end - p));
    return m->file.error;
}

int fi_merged_trace_loots(fi_merged_trace *m, const fi_loot *loots, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!m->has_origin)
            set_origin(m, loots[i].ns);
        fi_loot_arrows_add(&m->arrows, m->lines.rank, &loots[i],
                           fi_trace_lines_ns(&m->lines, loots[i].ns));
    }
    return 0;
}

/* ---- close ---- */

/* Names the first ranks only. */
static void report_unseen(const fi_merged_trace *m)
{
    unsigned first = 0;

    if (m->n_seen == m->ranks)
        return;
    while (m->is_seen[first])
        first++;
    report(FILCH_LEVEL_WARNING,
           "FILCH_TRACE: rank %u%s sent no trace; the merged trace is without it", first,
           m->ranks - m->n_seen > 1 ? " and other ranks" : "");
}

static void write_tail(fi_merged_trace *m)
{
    static const char *const keys[] = {
        ",\"events overwritten\":", ",\"loots\":", ",\"loots left out\":"};
    const uint64_t values[] = {m->overwritten, m->arrows.arrows,
                               m->loots_dropped + m->arrows.dropped};

    fi_event_file_text(&m->file, "\n],\"otherData\":{\"made by\":\"Filch " FILCH_VERSION
                                 "\",\"clock\":\"CLOCK_MONOTONIC of rank 0\",\"ranks\":");
    fi_event_file_number(&m->file, m->ranks);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        fi_event_file_text(&m->file, keys[i]);
        fi_event_file_number(&m->file, values[i]);
    }
    fi_event_file_text(&m->file, "}}\n");
}

int fi_merged_trace_close(fi_merged_trace *m)
{
    int e;

    rank_end(m);
    report_unseen(m);
    fi_loot_arrows_draw(&m->arrows, &m->file);
    write_tail(m);
    e = fi_event_file_close(&m->file);
    if (e < 0)
        report_error(m->file.path, e);
    fi_loot_arrows_fini(&m->arrows);
    free(m->is_seen);
    free(m);
    return e;
}
