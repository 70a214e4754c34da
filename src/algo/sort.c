/* What there is to sort, by which kind of element, and with what memory. */
#include "algo/compare.h"
#include "algo/in_place.h"
#include "algo/merge.h"
#include "algo/runs.h"
#include "algo/spread.h"

#include <errno.h>
#include <filch/algo.h>
#include <filch/memory.h>
#include <filch/task.h>
#include <string.h>

#define SMALL 1024 /* bytes: not worth a task, nor memory of their own */

/* 0, or -ENOMEM with the elements in some order. */
static int sort_with_memory(const fi_kind *kind, const fi_order *o, char *base, size_t n)
{
    size_t bytes = n * kind->size, more = kind->keeps_buckets && n >= kind->spread_from ? n : 0;
    char *scratch = NULL;
    fi_runs runs;
    bool found = fi_runs_find(kind, o, base, n, &runs);

    if (!found || runs.n > 1) {
        scratch = filch_alloc(bytes + more);
        if (!scratch)
            return -ENOMEM;
    }
    if (found)
        fi_runs_merge(kind, o, &runs, base, scratch);
    else
        fi_sort_range(kind, o, base, base, scratch, n, (unsigned char *)scratch + bytes);
    filch_free(scratch, bytes + more);
    return 0;
}

/* ---- elements of other sizes: pointers to them are sorted, then they are brought where these say ---- */

typedef struct pointing {
    char *base, *copies;
    char **pointer;
    size_t size;
} pointing;

static void point_to_some(size_t lo, size_t hi, void *ctx)
{
    const pointing *p = ctx;

    for (; lo < hi; lo++)
        p->pointer[lo] = p->base + lo * p->size;
}

static void gather_some(size_t lo, size_t hi, void *ctx)
{
    const pointing *p = ctx;

    for (; lo < hi; lo++)
        memcpy(p->copies + lo * p->size, p->pointer[lo], p->size);
}

static int sort_by_pointers(const fi_order *o, char *base, size_t n)
{
    fi_order by_pointer = *o;
    pointing p = {.base = base, .size = o->size};
    size_t bytes = n * o->size, pointers = n * sizeof *p.pointer;
    int e;

    by_pointer.size = sizeof *p.pointer;
    p.pointer = filch_alloc(pointers);
    p.copies = filch_alloc(bytes);
    e = p.pointer && p.copies ? 0 : -ENOMEM;
    if (e == 0) {
        filch_for(0, n, 0, point_to_some, &p);
        e = sort_with_memory(&fi_kind_pointer, &by_pointer, (char *)p.pointer, n);
    }
    if (e == 0) {
        filch_for(0, n, 0, gather_some, &p);
        fi_copy(base, p.copies, bytes);
    }
    filch_free(p.copies, bytes);
    filch_free(p.pointer, pointers);
    return e;
}

/* ---- */

FILCH_VOID_TASK(sort_all, const fi_kind *, kind, const fi_order *, o, char *, base, size_t, n, int,
                stable)
{
    int e = kind ? sort_with_memory(kind, o, base, n) : sort_by_pointers(o, base, n);

    if (e == 0)
        return;
    if (stable)
        fi_sort_stable_in_place(o, base, n);
    else
        fi_sort_in_place(o, base, n);
}

static const fi_kind *find_kind(fi_order *o)
{
    const fi_kind *kind = fi_kind_of_numbers(o);

    return kind ? kind : fi_kind_for_size(o->size);
}

static int sort(void *base, size_t n, fi_order o, int stable)
{
    _Alignas(64) char scratch[SMALL];
    const fi_kind *kind = find_kind(&o);

    if (!o.compare || !fi_is_range(base, n, o.size))
        return -EINVAL;
    if (n < 2)
        return 0;
    if (kind && n * o.size <= sizeof scratch)
        kind->sort(&o, base, base, scratch, n);
    else
        FILCH_RUN(sort_all, kind, &o, base, n, stable);
    return 0;
}

int filch_sort(void *base, size_t n, size_t size,
               int (*compare)(const void *a, const void *b, void *ctx), void *ctx)
{
    return sort(base, n, (fi_order){.compare = compare, .ctx = ctx, .size = size}, 0);
}

int filch_sort_stable(void *base, size_t n, size_t size,
                      int (*compare)(const void *a, const void *b, void *ctx), void *ctx)
{
    return sort(base, n, (fi_order){.compare = compare, .ctx = ctx, .size = size}, 1);
}
