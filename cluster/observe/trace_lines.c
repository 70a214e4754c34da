/* Parse and write the lines of a trace, for merged_trace.c.  The format is our own, so its fields
 * have a fixed order. */
#define _GNU_SOURCE
#include "observe/trace_lines.h"

#include "observe/json_check.h"

#include <string.h>

#define FIBERS_GROUP 4194304u /* of a file: its process ID plus this */
#define RATE_MAX     1e-3     /* of ticks against CLOCK_MONOTONIC; more is a wrong measurement */
#define LENGTH_MIN   1000000  /* ns: a shorter trace tells nothing about the rate */
#define TIME_MAX     ((int64_t)1 << 60)
#define FLOWS_BITS   36 /* of a flow's ID; the bits above are the rank plus 1 */

/* ---- reading ---- */

typedef struct cursor {
    const char *at, *end;
} cursor;

static bool skip_text(cursor *c, const char *text)
{
    size_t n = strlen(text);

    if ((size_t)(c->end - c->at) < n || memcmp(c->at, text, n) != 0)
        return false;
    c->at += n;
    return true;
}

/* At most 18 digits, so that the result fits in an int64_t. */
static bool read_number(cursor *c, uint64_t *n)
{
    const char *start = c->at;

    *n = 0;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++) {
        if (c->at - start >= 18)
            return false;
        *n = 10 * *n + (uint64_t)(*c->at - '0');
    }
    return c->at > start;
}

static bool read_field(cursor *c, const char *key, uint64_t *n)
{
    return skip_text(c, key) && read_number(c, n);
}

/* Microseconds with three decimals. */
static bool read_time(cursor *c, const char *key, int64_t *ns)
{
    uint64_t us, rest;

    if (!read_field(c, key, &us) || us > TIME_MAX / 1000 || !skip_text(c, ".") ||
        c->end - c->at < 3)
        return false;
    cursor decimals = {c->at, c->at + 3};
    if (!read_number(&decimals, &rest) || decimals.at != decimals.end)
        return false;
    c->at += 3;
    *ns = (int64_t)(us * 1000 + rest);
    return true;
}

/* ---- names ---- */

static void name_begin(const fi_trace_lines *t, fi_event_file *out, bool is_fibers)
{
    fi_event_file_next(out);
    fi_event_file_text(out, "{\"ph\":\"M\",\"pid\":");
    fi_event_file_number(out, fi_trace_group(t->rank) + is_fibers);
}

/* Name and order of a group of rows. */
static void write_group(const fi_trace_lines *t, fi_event_file *out, bool is_fibers)
{
    name_begin(t, out, is_fibers);
    fi_event_file_text(out, ",\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"rank ");
    fi_event_file_number(out, t->rank);
    fi_event_file_text(out, " on ");
    fi_event_file_text(out, t->host);
    fi_event_file_text(out, is_fibers ? ": fibers that wait\"}}" : ": workers\"}}");
    name_begin(t, out, is_fibers);
    fi_event_file_text(out, ",\"tid\":0,\"name\":\"process_sort_index\",\"args\":{\"sort_index\":");
    fi_event_file_number(out, fi_trace_group(t->rank) + is_fibers);
    fi_event_file_text(out, "}}");
}

void fi_trace_lines_begin(const fi_trace_lines *t, fi_event_file *out)
{
    write_group(t, out, false);
    write_group(t, out, true);
}

/* ---- the head line ---- */

static bool find_number(const char *line, size_t n, const char *key, int64_t *value)
{
    const char *found = memmem(line, n, key, strlen(key));
    cursor c = {found, line + n};
    uint64_t number;

    if (!found || !read_field(&c, key, &number) || number > TIME_MAX)
        return false;
    *value = (int64_t)number;
    return true;
}

bool fi_trace_lines_head(fi_trace_lines *t, const char *line, size_t n)
{
    cursor c = {line, line + n};
    int64_t end_ns, length_ns, overwritten;

    if (!skip_text(&c, "{\"displayTimeUnit\":") ||
        !find_number(line, n, "\"start ns\":", &t->start_ns) ||
        !find_number(line, n, "\"end ns\":", &end_ns) ||
        !find_number(line, n, "\"length ns\":", &length_ns) ||
        !find_number(line, n, "\"events overwritten\":", &overwritten))
        return false;
    t->overwritten = (uint64_t)overwritten;
    t->rate = 0;
    if (length_ns >= LENGTH_MIN)
        t->rate = (double)(end_ns - t->start_ns - length_ns) / (double)length_ns;
    if (t->rate > RATE_MAX || t->rate < -RATE_MAX)
        t->rate = 0;
    return true;
}

/* ---- events ---- */

/* The fields that change.  The rest of the line follows. */
typedef struct event {
    char phase;
    bool has_row, has_time, has_length, has_flow;
    uint64_t pid, row, flow;
    int64_t ns, length_ns;
    cursor rest;
} event;

static const char flow_key[] = ",\"cat\":\"wake\",\"name\":\"wakes\",\"id\":";

static bool event_read(event *e, const char *line, size_t n)
{
    cursor c = {line, line + n};

    *e = (event){0};
    if (!skip_text(&c, "{\"ph\":\"") || c.at == c.end)
        return false;
    e->phase = *c.at++;
    if (e->phase == '\0' || !strchr("MXiCsf", e->phase) || !read_field(&c, "\",\"pid\":", &e->pid))
        return false;
    e->has_row = e->phase != 'C';
    e->has_time = e->phase != 'M';
    e->has_length = e->phase == 'X';
    e->has_flow = e->phase == 's' || e->phase == 'f';
    if ((e->has_row && !read_field(&c, ",\"tid\":", &e->row)) ||
        (e->has_time && !read_time(&c, ",\"ts\":", &e->ns)) ||
        (e->has_length && !read_time(&c, ",\"dur\":", &e->length_ns)) ||
        (e->has_flow && (!read_field(&c, flow_key, &e->flow) || e->flow >> FLOWS_BITS != 0)))
        return false;
    e->rest = c;
    return true;
}

int64_t fi_trace_lines_ns(const fi_trace_lines *t, int64_t monotonic_ns)
{
    int64_t ns = fi_clock_map_apply(&t->clock, monotonic_ns) - t->origin_ns;

    return ns > 0 ? ns : 0;
}

/* The times of both ends of a slice are converted, not its length.  Conversion keeps the order, so
 * slices that were nested remain so. */
static int64_t event_ns(const fi_trace_lines *t, int64_t trace_ns)
{
    return fi_trace_lines_ns(t, t->start_ns + trace_ns + (int64_t)(t->rate * (double)trace_ns));
}

/* Names of groups, which fi_trace_lines_begin has written. */
static bool is_group_name(const event *e)
{
    cursor c = e->rest;

    return e->phase == 'M' && (skip_text(&c, ",\"name\":\"process_name\"") ||
                               skip_text(&c, ",\"name\":\"process_sort_index\""));
}

static void write_times(const fi_trace_lines *t, fi_event_file *out, const event *e)
{
    int64_t ns = event_ns(t, e->ns);

    fi_event_file_text(out, ",\"ts\":");
    fi_event_file_us(out, ns);
    if (e->has_length) {
        fi_event_file_text(out, ",\"dur\":");
        fi_event_file_us(out, event_ns(t, e->ns + e->length_ns) - ns);
    }
}

static void event_write(const fi_trace_lines *t, fi_event_file *out, const event *e)
{
    bool is_fibers = e->pid != t->pid;

    fi_event_file_next(out);
    fi_event_file_text(out, "{\"ph\":\"");
    fi_event_file_bytes(out, &e->phase, 1);
    fi_event_file_text(out, "\",\"pid\":");
    fi_event_file_number(out, fi_trace_group(t->rank) + is_fibers);
    if (e->has_row) {
        fi_event_file_text(out, ",\"tid\":");
        fi_event_file_number(out, e->row);
    }
    if (e->has_time)
        write_times(t, out, e);
    if (e->has_flow) {
        fi_event_file_text(out, flow_key);
        fi_event_file_number(out, ((uint64_t)t->rank + 1) << FLOWS_BITS | e->flow);
    }
    fi_event_file_bytes(out, e->rest.at, (size_t)(e->rest.end - e->rest.at));
}

/* The first event is of the workers. */
bool fi_trace_lines_event(fi_trace_lines *t, fi_event_file *out, const char *line, size_t n)
{
    event e;

    if (n > 0 && line[n - 1] == ',')
        n--;
    if (!fi_json_is_object(line, line + n) || !event_read(&e, line, n))
        return false;
    t->pid = t->pid ? t->pid : e.pid;
    if (e.pid != t->pid && e.pid != t->pid + FIBERS_GROUP)
        return false;
    if (!is_group_name(&e))
        event_write(t, out, &e);
    return true;
}
