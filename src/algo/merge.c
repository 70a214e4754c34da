/* Two ordered ranges are cut in two halves, so that all of the first halves comes before all of the second, and these
 * are merged side by side. */
#include "algo/merge.h"

#include <errno.h>
#include <filch/algo.h>
#include <filch/task.h>
#include <string.h>

#define WORTH_TASK ((size_t)64 * 1024) /* bytes */

typedef struct merging {
    const fi_kind *kind;
    const fi_order *order;
    size_t size;
    size_t grain; /* elements */
} merging;

typedef struct pair {
    const char *a, *b;
    size_t na, nb;
    char *out;
} pair;

static size_t at_most(size_t n, size_t most)
{
    return n < most ? n : most;
}

/* How many elements of a are among the first n of both.  Whatever the function says, it is a number of elements
 * that a has, and b has the others. */
static size_t find_cut(const merging *m, const pair *p, size_t n)
{
    size_t lo = n > p->nb ? n - p->nb : 0, hi = at_most(n, p->na);

    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        const char *mine = p->a + middle * m->size, *other = p->b + (n - middle - 1) * m->size;

        if (m->kind->less(m->order, other, mine))
            hi = middle;
        else
            lo = middle + 1;
    }
    return lo;
}

/* The second half of *p, which becomes the first. */
static pair cut_off(const merging *m, pair *p)
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
    int open = 0;

    for (; p.na + p.nb > m->grain; open++) {
        pair second = cut_off(m, &p);
        FILCH_SPAWN(merge_pair, m, second);
    }
    m->kind->merge(m->order, p.a, p.na, p.b, p.nb, p.out);
    for (; open > 0; open--)
        FILCH_SYNC(merge_pair);
}

void fi_merge(const fi_kind *kind, const fi_order *o, const void *a, size_t na, const void *b,
              size_t nb, void *out)
{
    merging m = {kind, o, o->size, WORTH_TASK / o->size + 1};
    pair p = {a, b, na, nb, out};

    if (na + nb > m.grain)
        FILCH_RUN(merge_pair, &m, p);
    else
        kind->merge(o, a, na, b, nb, out);
}

/* ---- elements of any size ---- */

static bool less_by_function(const fi_order *o, const void *a, const void *b)
{
    return o->compare(a, b, o->ctx) < 0;
}

/* How many elements of b go before the first of a, or of a before the first of b. */
static size_t count_ahead(const fi_order *o, const char *ahead, size_t n, const char *other,
                          bool also_equal)
{
    size_t i = 0;

    while (i < n && (also_equal ? o->compare(other, ahead + i * o->size, o->ctx) >= 0
                                : o->compare(ahead + i * o->size, other, o->ctx) < 0))
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

/* As many at once as go together, as it is not known how a single one is moved best. */
static void merge_by_size(const fi_order *o, const void *first, size_t na, const void *second,
                          size_t nb, void *out)
{
    const char *a = first, *b = second;

    while (na > 0 && nb > 0) {
        out = move_some(out, &a, &na, count_ahead(o, a, na, b, true), o->size);
        if (na > 0)
            out = move_some(out, &b, &nb, count_ahead(o, b, nb, a, false), o->size);
    }
    out = move_some(out, &a, &na, na, o->size);
    move_some(out, &b, &nb, nb, o->size);
}

const fi_kind *fi_kind_for_size(size_t size)
{
    switch (size) {
    case 4:
        return &fi_kind_4;
    case 8:
        return &fi_kind_8;
    case 16:
        return &fi_kind_16;
    case 24:
        return &fi_kind_24;
    default:
        return NULL;
    }
}

bool fi_is_range(const void *base, size_t n, size_t size)
{
    return size > 0 && (base || n == 0) && n <= PTRDIFF_MAX / size;
}

int filch_merge(const void *a, size_t na, const void *b, size_t nb, void *out, size_t size,
                int (*compare)(const void *a, const void *b, void *ctx), void *ctx)
{
    static const fi_kind any_size = {.less = less_by_function, .merge = merge_by_size};
    const fi_kind *kind = fi_kind_for_size(size);
    fi_order o = {.compare = compare, .ctx = ctx, .size = size};

    if (!compare || !fi_is_range(a, na, size) || !fi_is_range(b, nb, size) ||
        !fi_is_range(out, na + nb, size))
        return -EINVAL;
    if (na + nb > 0)
        fi_merge(kind ? kind : &any_size, &o, a, na, b, nb, out);
    return 0;
}
