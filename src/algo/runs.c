/* Each block finds its own runs, and stops when there are too many; those of neighbours are then joined. */
#include "algo/runs.h"

#include "algo/merge.h"

#include <filch/algo.h>
#include <string.h>

#define BLOCKS      64
#define LEAST_BLOCK 1024 /* elements */
#define IN_BLOCK    3    /* runs at the most; what is in order has one or two */
#define COPY_GRAIN  ((size_t)256 * 1024)
#define SWAP_GRAIN  4096

typedef struct block_runs {
    size_t n; /* 0: too many */
    size_t start[IN_BLOCK];
    bool down[IN_BLOCK];
} block_runs;

typedef struct search {
    const fi_kind *kind;
    const fi_order *order;
    const char *from;
    size_t n, block;
    block_runs found[BLOCKS];
} search;

static const char *at(const search *s, size_t i)
{
    return s->from + i * s->kind->size;
}

static void look_into(search *s, size_t block)
{
    size_t lo = block * s->block, left = s->n - lo;
    size_t hi = lo + (left < s->block ? left : s->block);
    block_runs *found = &s->found[block];

    found->n = 0;
    for (; lo < hi; found->n++) {
        if (found->n == IN_BLOCK) {
            found->n = 0;
            return;
        }
        found->start[found->n] = lo;
        lo += s->kind->run(s->order, at(s, lo), hi - lo, &found->down[found->n]);
    }
}

static void look_into_some(size_t lo, size_t hi, void *ctx)
{
    for (; lo < hi; lo++)
        look_into(ctx, lo);
}

/* Whether a run that begins at start goes on as the last of r does.  A single element goes any way. */
static bool goes_on(const search *s, const fi_runs *r, size_t start, size_t end, bool down)
{
    bool falls = s->kind->less(s->order, at(s, start), at(s, start - 1));
    bool single = start - r->start[r->n - 1] == 1;

    if (end - start > 1 && down != falls)
        return false;
    return single || r->down[r->n - 1] == falls;
}

static bool join(const search *s, fi_runs *r, size_t start, size_t end, bool down)
{
    if (r->n > 0 && goes_on(s, r, start, end, down)) {
        r->down[r->n - 1] = s->kind->less(s->order, at(s, start), at(s, start - 1));
    } else {
        if (r->n == FI_RUNS)
            return false;
        r->start[r->n] = start;
        r->down[r->n++] = down;
    }
    r->start[r->n] = end;
    return true;
}

static bool join_all(const search *s, fi_runs *r, size_t blocks)
{
    r->n = 0;
    for (size_t i = 0; i < blocks; i++) {
        const block_runs *b = &s->found[i];
        size_t end = i + 1 < blocks ? (i + 1) * s->block : s->n;

        if (b->n == 0)
            return false;
        for (size_t j = 0; j < b->n; j++)
            if (!join(s, r, b->start[j], j + 1 < b->n ? b->start[j + 1] : end, b->down[j]))
                return false;
    }
    return true;
}

bool fi_runs_find(const fi_kind *kind, const fi_order *o, const void *from, size_t n, fi_runs *r)
{
    search s = {.kind = kind, .order = o, .from = from, .n = n, .block = n / BLOCKS + 1};
    size_t blocks;

    if (s.block < LEAST_BLOCK)
        s.block = LEAST_BLOCK;
    blocks = (n - 1) / s.block + 1;
    filch_for(0, blocks, 1, look_into_some, &s);
    return join_all(&s, r, blocks);
}

/* ---- what is found is made into one ---- */

typedef struct reversal {
    const fi_kind *kind;
    char *from;
    size_t n;
} reversal;

static void mirror_some(size_t lo, size_t hi, void *ctx)
{
    const reversal *r = ctx;

    r->kind->mirror(r->from, r->n, lo, hi);
}

static void turn_down_runs(const fi_kind *kind, fi_runs *r, char *from)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->down[i]) {
            reversal turn = {kind, from + r->start[i] * kind->size, r->start[i + 1] - r->start[i]};

            filch_for(0, turn.n / 2, SWAP_GRAIN, mirror_some, &turn);
        }
}

typedef struct copying {
    char *to;
    const char *from;
} copying;

static void copy_some(size_t lo, size_t hi, void *ctx)
{
    const copying *c = ctx;

    memcpy(c->to + lo, c->from + lo, hi - lo);
}

void fi_copy(void *to, const void *from, size_t bytes)
{
    copying c = {to, from};

    filch_for(0, bytes, COPY_GRAIN, copy_some, &c);
}

/* Every two become one; an odd one is copied. */
static void merge_neighbours(const fi_kind *kind, const fi_order *o, fi_runs *r, const char *from,
                             char *to)
{
    size_t kept = 0, end = r->start[r->n];

    for (size_t i = 0; i < r->n; i += 2) {
        size_t first = r->start[i], second = r->start[i + 1];
        size_t behind = i + 1 < r->n ? r->start[i + 2] : second;

        fi_merge(kind, o, from + first * kind->size, second - first, from + second * kind->size,
                 behind - second, to + first * kind->size);
        r->start[kept++] = first;
    }
    r->start[kept] = end;
    r->n = kept;
}

void fi_runs_merge(const fi_kind *kind, const fi_order *o, fi_runs *r, void *from, void *scratch)
{
    char *now = from, *next = scratch;
    size_t bytes = r->start[r->n] * kind->size;

    turn_down_runs(kind, r, from);
    while (r->n > 1) {
        char *then = next;

        merge_neighbours(kind, o, r, now, next);
        next = now;
        now = then;
    }
    if (now != from)
        fi_copy(from, now, bytes);
}
