#include "run/beats.h"

#include <string.h>

#define BEAT_NS INT64_C(1000000000)
/* A round that is later than this by itself: the process was stopped, or its machine was asleep. */
#define GAP_NS (BEAT_NS + INT64_C(1000000000))

static void neighbour_add(fi_beats *b, unsigned rank, int64_t now)
{
    b->neighbours[b->n++] = (fi_neighbour){.rank = rank, .heard_ns = now};
}

void fi_beats_init(fi_beats *b, unsigned rank, unsigned ranks, int64_t silence_ns, int64_t now)
{
    unsigned first = fi_tree_first_child(rank), n = fi_tree_n_children(rank, ranks);

    *b = (fi_beats){.rank = rank, .ranks = ranks, .next_ns = now, .silence_ns = silence_ns};
    if (rank != 0)
        neighbour_add(b, fi_tree_parent(rank), now);
    for (unsigned c = 0; c < n; c++)
        neighbour_add(b, first + c, now);
}

void fi_beats_fini(fi_beats *b)
{
    for (unsigned i = 0; i < b->n; i++)
        fi_packet_free(b->neighbours[i].beat);
    b->n = 0;
}

/* NULL: not a neighbour. */
static fi_neighbour *neighbour_find(fi_beats *b, unsigned rank)
{
    for (unsigned i = 0; i < b->n; i++)
        if (b->neighbours[i].rank == rank)
            return &b->neighbours[i];
    return NULL;
}

void fi_beats_heard(fi_beats *b, unsigned from, int64_t now)
{
    fi_neighbour *n = neighbour_find(b, from);

    if (!n)
        return;
    n->heard_ns = now;
    n->is_warned = false;
}

const fi_beat *fi_beat_of(const fi_packet *p)
{
    return (const fi_beat *)(const void *)p->body;
}

size_t fi_beat_n_rows(const fi_packet *p)
{
    return (p->size - sizeof(fi_beat)) / sizeof(filch_ranks_row);
}

/* At least the row of the sender, and not more than all ranks. */
static bool beat_is_valid(const fi_beats *b, const fi_packet *p)
{
    size_t rows;

    if (p->size < sizeof(fi_beat) + sizeof(filch_ranks_row))
        return false;
    rows = fi_beat_n_rows(p);
    return p->size == sizeof(fi_beat) + rows * sizeof(filch_ranks_row) && rows <= b->ranks &&
           fi_beat_of(p)->rows[0].rank == p->head.from;
}

bool fi_beats_receive(fi_beats *b, fi_packet *p, int64_t now)
{
    fi_neighbour *n = neighbour_find(b, p->head.from);

    if (!n || !beat_is_valid(b, p)) {
        fi_packet_free(p);
        return false;
    }
    fi_packet_free(n->beat);
    n->beat = p;
    n->beat_ns = now;
    return true;
}

bool fi_beats_due(fi_beats *b, int64_t now)
{
    int64_t late = now - b->next_ns;

    if (late < 0)
        return false;
    if (late > GAP_NS)
        for (unsigned i = 0; i < b->n; i++)
            b->neighbours[i].heard_ns = now;
    b->next_ns = now + BEAT_NS;
    return true;
}

fi_silence fi_beats_check(const fi_beats *b, fi_neighbour *n, int64_t now)
{
    int64_t silence = now - n->heard_ns;

    if (silence >= b->silence_ns)
        return FI_DEAD;
    if (silence < FI_SILENT_NS || n->is_warned)
        return FI_HEARD;
    n->is_warned = true;
    return FI_SILENT;
}

const filch_ranks_row *fi_beats_row(const fi_neighbour *n)
{
    return n->beat ? &fi_beat_of(n->beat)->rows[0] : NULL;
}

/* ---- making ---- */

static bool is_child(const fi_beats *b, const fi_neighbour *n)
{
    return n->rank > b->rank;
}

/* Returns the larger one. */
static uint64_t max_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void sums_add(fi_beat *to, const fi_neighbour *child, int64_t now)
{
    const fi_beat *of = fi_beat_of(child->beat);
    uint64_t reported = of->sums.silence_ns + (uint64_t)(now - child->beat_ns);

    to->sums.items += of->sums.items;
    to->sums.loots += of->sums.loots;
    to->sums.bytes += of->sums.bytes;
    to->sums.busy += of->sums.busy;
    if (of->sums.silence_ns > 0)
        to->sums.silence_ns = max_of(to->sums.silence_ns, reported);
    if (of->sums.run == to->sums.run)
        to->run_items += of->run_items;
}

/* Returns the number of rows. */
static size_t rows_add(filch_ranks_row *to, const fi_neighbour *child, int64_t now)
{
    size_t n = fi_beat_n_rows(child->beat);

    memcpy(to, fi_beat_of(child->beat)->rows, n * sizeof *to);
    to[0].heard_ns = (uint64_t)(now - child->heard_ns);
    for (size_t i = 1; i < n; i++)
        to[i].heard_ns += (uint64_t)(now - child->beat_ns);
    return n;
}

static bool has_rows(const fi_beats *b)
{
    return b->ranks <= FILCH_RANKS_ROWS;
}

/* In the subtree, with this rank. */
static size_t rows_count(const fi_beats *b)
{
    size_t n = 1;

    for (unsigned i = 0; i < b->n; i++)
        if (is_child(b, &b->neighbours[i]) && b->neighbours[i].beat)
            n += fi_beat_n_rows(b->neighbours[i].beat);
    return n;
}

static void subtree_add(const fi_beats *b, fi_beat *beat, int64_t now)
{
    filch_ranks_row *next = beat->rows + 1;

    for (unsigned i = 0; i < b->n; i++) {
        const fi_neighbour *n = &b->neighbours[i];

        if (!is_child(b, n))
            continue;
        beat->sums.silence_ns = max_of(beat->sums.silence_ns, (uint64_t)(now - n->heard_ns));
        if (!n->beat)
            continue;
        sums_add(beat, n, now);
        if (has_rows(b))
            next += rows_add(next, n, now);
    }
}

fi_packet *fi_beats_make(const fi_beats *b, const fi_beat_own *own, bool with_subtree, int64_t now)
{
    size_t rows = with_subtree && has_rows(b) ? rows_count(b) : 1;
    fi_packet *p = fi_packet_new(sizeof(fi_beat) + rows * sizeof(filch_ranks_row));
    fi_beat *beat;

    if (!p)
        return NULL;
    p->head.kind = FI_BEAT;
    p->head.from = b->rank;
    beat = (fi_beat *)(void *)p->body;
    beat->sums = own->sums;
    beat->run_items = own->run_items;
    beat->rows[0] = own->row;
    if (with_subtree)
        subtree_add(b, beat, now);
    return p;
}
