/* Match the two ends of each loot, and draw them, for merged_trace.c.
 *
 * An end without the other has no arrow: its rank's log is missing or was full.  The clocks of two
 * ranks are known up to some microseconds, so a loot may seem to be opened before it was sent.  A
 * viewer would leave out its arrow.  It is drawn as if it was opened right after it was sent. */
#include "observe/loot_arrows.h"

#include "observe/trace_lines.h"
#include "protocol/message.h"

#include <stdlib.h>

#define CAPACITY_MIN 1024u
#define SLICE_NS     1000 /* of a slice, if the next one is not earlier */

struct fi_loot_end {
    int64_t ns;
    uint64_t number, bytes;
    uint32_t rank, peer;
    uint32_t arrow; /* its number; 0: none */
    uint16_t kind, is_out;
};

static bool arrows_grow(fi_loot_arrows *a)
{
    size_t capacity = a->capacity > 0 ? 2 * a->capacity : CAPACITY_MIN;
    fi_loot_end *ends;

    if (capacity > FI_LOOT_ARROWS_MAX)
        return false;
    ends = realloc(a->ends, capacity * sizeof *ends);
    if (!ends)
        return false;
    a->ends = ends;
    a->capacity = capacity;
    return true;
}

void fi_loot_arrows_add(fi_loot_arrows *a, unsigned rank, const fi_loot *loot, int64_t ns)
{
    if (a->n == a->capacity && !arrows_grow(a)) {
        a->dropped++;
        return;
    }
    a->ends[a->n++] = (fi_loot_end){.ns = ns,
                                    .number = loot->number,
                                    .bytes = loot->bytes,
                                    .rank = rank,
                                    .peer = loot->peer,
                                    .kind = loot->kind,
                                    .is_out = loot->is_out != 0};
}

void fi_loot_arrows_fini(fi_loot_arrows *a)
{
    free(a->ends);
    *a = (fi_loot_arrows){0};
}

/* ---- matching ---- */

static int compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static uint32_t sender(const fi_loot_end *e)
{
    return e->is_out ? e->rank : e->peer;
}

/* By sender and number, the sent end first. */
static int compare_loots(const void *x, const void *y)
{
    const fi_loot_end *a = x, *b = y;
    int order = compare_u64(sender(a), sender(b));

    if (order == 0)
        order = compare_u64(a->number, b->number);
    return order != 0 ? order : (int)b->is_out - (int)a->is_out;
}

static bool is_pair(const fi_loot_end *out, const fi_loot_end *in)
{
    return out->is_out && !in->is_out && out->number == in->number && out->rank == in->peer &&
           out->peer == in->rank;
}

static void match(fi_loot_arrows *a)
{
    for (size_t i = 0; i + 1 < a->n; i++) {
        fi_loot_end *out = &a->ends[i], *in = out + 1;
        if (!is_pair(out, in))
            continue;
        out->arrow = in->arrow = (uint32_t)++a->arrows;
        if (in->ns <= out->ns)
            in->ns = out->ns + 1;
        i++;
    }
}

/* ---- drawing ---- */

static int compare_times(const void *x, const void *y)
{
    const fi_loot_end *a = x, *b = y;
    int order = compare_u64(a->rank, b->rank);

    if (order == 0)
        order = (a->ns > b->ns) - (a->ns < b->ns);
    return order != 0 ? order : compare_u64(a->number, b->number);
}

static void write_begin(fi_event_file *out, const char *phase, unsigned rank)
{
    fi_event_file_next(out);
    fi_event_file_text(out, "{\"ph\":\"");
    fi_event_file_text(out, phase);
    fi_event_file_text(out, "\",\"pid\":");
    fi_event_file_number(out, fi_trace_group(rank));
    fi_event_file_text(out, ",\"tid\":");
    fi_event_file_number(out, FI_TRACE_LOOT_ROW);
}

/* The row comes before those of the workers. */
static void write_row(fi_event_file *out, unsigned rank)
{
    write_begin(out, "M", rank);
    fi_event_file_text(out, ",\"name\":\"thread_name\",\"args\":{\"name\":\"loot\"}}");
    write_begin(out, "M", rank);
    fi_event_file_text(out, ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":-1}}");
}

static void write_time(fi_event_file *out, const char *key, int64_t ns)
{
    fi_event_file_text(out, key);
    fi_event_file_us(out, ns);
}

static void write_number(fi_event_file *out, const char *key, uint64_t n)
{
    fi_event_file_text(out, key);
    fi_event_file_number(out, n);
}

static void write_slice(fi_event_file *out, const fi_loot_end *e, int64_t length_ns)
{
    write_begin(out, "X", e->rank);
    write_time(out, ",\"ts\":", e->ns);
    write_time(out, ",\"dur\":", length_ns);
    fi_event_file_text(out, ",\"cat\":\"loot\",\"name\":\"");
    fi_event_file_text(out, e->kind == FI_GIFT ? "gift" : "loot");
    write_number(out, e->is_out ? " to rank " : " from rank ", e->peer);
    write_number(out, "\",\"args\":{\"bytes\":", e->bytes);
    write_number(out, ",\"number\":", e->number);
    fi_event_file_text(out, "}}");
}

static void write_arrow_end(fi_event_file *out, const fi_loot_end *e)
{
    write_begin(out, e->is_out ? "s" : "f", e->rank);
    write_time(out, ",\"ts\":", e->ns);
    write_number(out, ",\"cat\":\"loot\",\"name\":\"loot\",\"id\":", e->arrow);
    fi_event_file_text(out, e->is_out ? "}" : ",\"bp\":\"e\"}");
}

/* Slices of a row must not overlap, so one ends when the next begins. */
void fi_loot_arrows_draw(fi_loot_arrows *a, fi_event_file *out)
{
    if (a->n == 0)
        return;
    qsort(a->ends, a->n, sizeof *a->ends, compare_loots);
    match(a);
    qsort(a->ends, a->n, sizeof *a->ends, compare_times);
    for (size_t i = 0; i < a->n; i++) {
        const fi_loot_end *e = &a->ends[i], *next = i + 1 < a->n ? e + 1 : NULL;
        int64_t length = next && next->rank == e->rank && next->ns - e->ns < SLICE_NS
                             ? next->ns - e->ns
                             : SLICE_NS;
        if (i == 0 || e[-1].rank != e->rank)
            write_row(out, e->rank);
        write_slice(out, e, length);
        if (e->arrow)
            write_arrow_end(out, e);
    }
}
