/* Parallel merge.  Two sorted ranges are split so that all first halves come before all second
 * halves.  The two pairs are merged in parallel. */
#include "algo/merge.h"

#include "algo/check.h"

#include <errno.h>
#include <filch/algo.h>
#include <filch/task.h>
#include <string.h>

#define TASK_MIN ((size_t)64 * 1024) /* bytes */

typedef struct merging {
    const fi_sort_ops *ops;
    const fi_comparator *cmp;
    size_t size;
    size_t grain; /* elements */
} merging;

typedef struct pair {
    const char *a, *b;
    size_t na, nb;
    char *out;
} pair;

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Number of elements of a among the first n of both.  Even if the user's function is inconsistent,
 * the result is at most na and n minus the result is at most nb. */
static size_t find_cut(const merging *m, const pair *p, size_t n)
{
    size_t lo = n > p->nb ? n - p->nb : 0, hi = min_size(n, p->na);

    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        const char *mine = p->a + middle * m->size, *other = p->b + (n - middle - 1) * m->size;

        if (m->ops->less(m->cmp, other, mine))
            hi = middle;
        else
            lo = middle + 1;
    }
    return lo;
}

/* Split off the second half of *p. */
static pair split_pair(const merging *m, pair *p)
{
    size_t half = (p->na + p->nb) / 2, a = find_cut(m, p, half), b = half - a;
    pair second = {p->a + a * m->size, p->b + b * m->size, p->na - a, p->nb - b,
                   p->out + half * m->size};

    p->na = a;
    p->nb = b;
    return second;
}

FILCH_VOID_TASK(merge_pair, const merging *, m, pair, p)
{
    int spawned = 0;

    for (; p.na + p.nb > m->grain; spawned++) {
        pair second = split_pair(m, &p);
        FILCH_SPAWN(merge_pair, m, second);
    }
    m->ops->merge(m->cmp, p.a, p.na, p.b, p.nb, p.out);
    for (; spawned > 0; spawned--)
        FILCH_SYNC(merge_pair);
}

void fi_merge(const fi_sort_ops *ops, const fi_comparator *cmp, const void *a, size_t na,
              const void *b, size_t nb, void *out)
{
    merging m = {ops, cmp, cmp->size, TASK_MIN / cmp->size + 1};
    pair p = {a, b, na, nb, out};

    if (na + nb > m.grain)
        FILCH_RUN(merge_pair, &m, p);
    else
        ops->merge(cmp, a, na, b, nb, out);
}

/* ---- elements of any size ---- */

static bool less_by_function(const fi_comparator *cmp, const void *a, const void *b)
{
    return cmp->compare(a, b, cmp->ctx) < 0;
}

/* Number of leading elements of `ahead` that belong before the first of `other`. */
static size_t count_ahead(const fi_comparator *cmp, const char *ahead, size_t n, const char *other,
                          bool also_equal)
{
    size_t i = 0;

    while (i < n && (also_equal ? cmp->compare(other, ahead + i * cmp->size, cmp->ctx) >= 0
                                : cmp->compare(ahead + i * cmp->size, other, cmp->ctx) < 0))
        i++;
    return i;
}

static void *move_some(void *out, const char **from, size_t *left, size_t n, size_t size)
{
    if (n > 0)
        memcpy(out, *from, n * size);
    *from += n * size;
    *left -= n;
    return (char *)out + n * size;
}

/* Elements are moved in groups, because the size of one is not a constant. */
static void merge_by_size(const fi_comparator *cmp, const void *first, size_t na,
                          const void *second, size_t nb, void *out)
{
    const char *a = first, *b = second;

    while (na > 0 && nb > 0) {
        out = move_some(out, &a, &na, count_ahead(cmp, a, na, b, true), cmp->size);
        if (na > 0)
            out = move_some(out, &b, &nb, count_ahead(cmp, b, nb, a, false), cmp->size);
    }
    out = move_some(out, &a, &na, na, cmp->size);
    move_some(out, &b, &nb, nb, cmp->size);
}

const fi_sort_ops *fi_sort_ops_for_size(size_t size)
{
    switch (size) {
    case 4:
        return &fi_sort_ops_4;
    case 8:
        return &fi_sort_ops_8;
    case 16:
        return &fi_sort_ops_16;
    case 24:
        return &fi_sort_ops_24;
    default:
        return NULL;
    }
}

int filch_merge(const void *a, size_t na, const void *b, size_t nb, void *out, size_t size,
                int (*compare)(const void *a, const void *b, void *ctx), void *ctx)
{
    static const fi_sort_ops any_size = {.less = less_by_function, .merge = merge_by_size};
    const fi_sort_ops *ops = fi_sort_ops_for_size(size);
    fi_comparator cmp = {.compare = compare, .ctx = ctx, .size = size};

    if (fi_check_function("filch_merge", "compare", compare) < 0 ||
        fi_check_range("filch_merge", "a", a, na, size) < 0 ||
        fi_check_range("filch_merge", "b", b, nb, size) < 0 ||
        fi_check_range("filch_merge", "out", out, na + nb, size) < 0)
        return -EINVAL;
    if (na + nb > 0)
        fi_merge(ops ? ops : &any_size, &cmp, a, na, b, nb, out);
    return 0;
}
