/* Each block finds its own runs and gives up when it has too many.  Then the runs of neighbouring
 * blocks are joined. */
#include "algo/natural_runs.h"

#include "algo/merge.h"

#include <filch/algo.h>
#include <string.h>

#define BLOCKS         64
#define BLOCK_MIN      1024 /* elements */
#define BLOCK_RUNS_MAX 3    /* a sorted range has one or two in a block */
#define COPY_GRAIN     ((size_t)256 * 1024)
#define SWAP_GRAIN     4096

typedef struct block_runs {
    size_t n; /* 0: too many */
    size_t start[BLOCK_RUNS_MAX];
    bool descending[BLOCK_RUNS_MAX];
} block_runs;

typedef struct search {
    const fi_sort_ops *ops;
    const fi_comparator *cmp;
    const char *from;
    size_t n, block;
    block_runs found[BLOCKS];
} search;

static const char *search_at(const search *s, size_t i)
{
    return s->from + i * s->ops->size;
}

static void find_runs_in_block(search *s, size_t block)
{
    size_t lo = block * s->block, left = s->n - lo;
    size_t hi = lo + (left < s->block ? left : s->block);
    block_runs *found = &s->found[block];

    found->n = 0;
    for (; lo < hi; found->n++) {
        if (found->n == BLOCK_RUNS_MAX) {
            found->n = 0;
            return;
        }
        found->start[found->n] = lo;
        lo += s->ops->run_length(s->cmp, search_at(s, lo), hi - lo, &found->descending[found->n]);
    }
}

static void find_runs_in_blocks(size_t lo, size_t hi, void *ctx)
{
    for (; lo < hi; lo++)
        find_runs_in_block(ctx, lo);
}

/* Whether a run from start to end continues the last run of r.  A run of one element has either
 * direction. */
static bool continues_last_run(const search *s, const fi_natural_runs *r, size_t start, size_t end,
                               bool descending)
{
    bool falls = s->ops->less(s->cmp, search_at(s, start), search_at(s, start - 1));
    bool single = start - r->start[r->n - 1] == 1;

    if (end - start > 1 && descending != falls)
        return false;
    return single || r->descending[r->n - 1] == falls;
}

static bool add_run(const search *s, fi_natural_runs *r, size_t start, size_t end, bool descending)
{
    if (r->n > 0 && continues_last_run(s, r, start, end, descending)) {
        r->descending[r->n - 1] =
            s->ops->less(s->cmp, search_at(s, start), search_at(s, start - 1));
    } else {
        if (r->n == FI_NATURAL_RUNS_MAX)
            return false;
        r->start[r->n] = start;
        r->descending[r->n++] = descending;
    }
    r->start[r->n] = end;
    return true;
}

static bool join_blocks(const search *s, fi_natural_runs *r, size_t blocks)
{
    r->n = 0;
    for (size_t i = 0; i < blocks; i++) {
        const block_runs *b = &s->found[i];
        size_t end = i + 1 < blocks ? (i + 1) * s->block : s->n;

        if (b->n == 0)
            return false;
        for (size_t j = 0; j < b->n; j++)
            if (!add_run(s, r, b->start[j], j + 1 < b->n ? b->start[j + 1] : end, b->descending[j]))
                return false;
    }
    return true;
}

bool fi_natural_runs_find(const fi_sort_ops *ops, const fi_comparator *cmp, const void *from,
                          size_t n, fi_natural_runs *r)
{
    search s = {.ops = ops, .cmp = cmp, .from = from, .n = n, .block = n / BLOCKS + 1};
    size_t blocks;

    if (s.block < BLOCK_MIN)
        s.block = BLOCK_MIN;
    blocks = (n - 1) / s.block + 1;
    filch_for(0, blocks, 1, find_runs_in_blocks, &s);
    return join_blocks(&s, r, blocks);
}

/* ---- merge the runs ---- */

typedef struct reversal {
    const fi_sort_ops *ops;
    char *from;
    size_t n;
} reversal;

static void reverse_some(size_t lo, size_t hi, void *ctx)
{
    const reversal *r = ctx;

    r->ops->reverse_pairs(r->from, r->n, lo, hi);
}

static void reverse_descending_runs(const fi_sort_ops *ops, fi_natural_runs *r, char *from)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->descending[i]) {
            reversal turn = {ops, from + r->start[i] * ops->size, r->start[i + 1] - r->start[i]};

            filch_for(0, turn.n / 2, SWAP_GRAIN, reverse_some, &turn);
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

void fi_copy_parallel(void *to, const void *from, size_t bytes)
{
    copying c = {to, from};

    filch_for(0, bytes, COPY_GRAIN, copy_some, &c);
}

/* Merge runs in pairs.  An odd one is copied. */
static void merge_neighbours(const fi_sort_ops *ops, const fi_comparator *cmp, fi_natural_runs *r,
                             const char *from, char *to)
{
    size_t kept = 0, end = r->start[r->n];

    for (size_t i = 0; i < r->n; i += 2) {
        size_t first = r->start[i], second = r->start[i + 1];
        size_t behind = i + 1 < r->n ? r->start[i + 2] : second;

        fi_merge(ops, cmp, from + first * ops->size, second - first, from + second * ops->size,
                 behind - second, to + first * ops->size);
        r->start[kept++] = first;
    }
    r->start[kept] = end;
    r->n = kept;
}

void fi_natural_runs_merge(const fi_sort_ops *ops, const fi_comparator *cmp, fi_natural_runs *r,
                           void *from, void *scratch)
{
    char *now = from, *next = scratch;
    size_t bytes = r->start[r->n] * ops->size;

    reverse_descending_runs(ops, r, from);
    while (r->n > 1) {
        char *then = next;

        merge_neighbours(ops, cmp, r, now, next);
        next = now;
        now = then;
    }
    if (now != from)
        fi_copy_parallel(from, now, bytes);
}
