/* filch_sort and filch_sort_stable: choose the operations and allocate the memory. */
#include "algo/check.h"
#include "algo/compare.h"
#include "algo/merge.h"
#include "algo/natural_runs.h"
#include "algo/no_alloc.h"
#include "algo/scatter.h"

#include <errno.h>
#include <filch/algo.h>
#include <filch/memory.h>
#include <filch/task.h>
#include <string.h>

#define SERIAL_MAX                                                                                 \
    1024 /* bytes; fewer are sorted by the caller, with scratch memory on the stack */

/* Returns: 0; -ENOMEM, with the elements in any order. */
static int sort_with_memory(const fi_sort_ops *ops, const fi_comparator *cmp, char *base, size_t n)
{
    size_t bytes = n * ops->size, more = ops->stores_bucket_of && n >= ops->scatter_min ? n : 0;
    char *scratch = NULL;
    fi_natural_runs runs;
    bool found = fi_natural_runs_find(ops, cmp, base, n, &runs);

    if (!found || runs.n > 1) {
        scratch = filch_alloc(bytes + more);
        if (!scratch)
            return -ENOMEM;
    }
    if (found)
        fi_natural_runs_merge(ops, cmp, &runs, base, scratch);
    else
        fi_sort_range(ops, cmp, base, base, scratch, n, (unsigned char *)scratch + bytes);
    filch_free(scratch, bytes + more);
    return 0;
}

/* ---- elements of other sizes: sort pointers to them, then move the elements ---- */

typedef struct pointer_sort {
    char *base, *copies;
    char **pointer;
    size_t size;
} pointer_sort;

static void point_to_some(size_t lo, size_t hi, void *ctx)
{
    const pointer_sort *p = ctx;

    for (; lo < hi; lo++)
        p->pointer[lo] = p->base + lo * p->size;
}

static void gather_some(size_t lo, size_t hi, void *ctx)
{
    const pointer_sort *p = ctx;

    for (; lo < hi; lo++)
        memcpy(p->copies + lo * p->size, p->pointer[lo], p->size);
}

static int sort_by_pointers(const fi_comparator *cmp, char *base, size_t n)
{
    fi_comparator by_pointer = *cmp;
    pointer_sort p = {.base = base, .size = cmp->size};
    size_t bytes = n * cmp->size, pointers = n * sizeof *p.pointer;
    int e;

    by_pointer.size = sizeof *p.pointer;
    p.pointer = filch_alloc(pointers);
    p.copies = filch_alloc(bytes);
    e = p.pointer && p.copies ? 0 : -ENOMEM;
    if (e == 0) {
        filch_for(0, n, 0, point_to_some, &p);
        e = sort_with_memory(&fi_sort_ops_pointer, &by_pointer, (char *)p.pointer, n);
    }
    if (e == 0) {
        filch_for(0, n, 0, gather_some, &p);
        fi_copy_parallel(base, p.copies, bytes);
    }
    filch_free(p.copies, bytes);
    filch_free(p.pointer, pointers);
    return e;
}

/* ---- all elements ---- */

FILCH_VOID_TASK(sort_all, const fi_sort_ops *, ops, const fi_comparator *, cmp, char *, base,
                size_t, n, int, stable)
{
    int e = ops ? sort_with_memory(ops, cmp, base, n) : sort_by_pointers(cmp, base, n);

    if (e == 0)
        return;
    if (stable)
        fi_sort_stable_no_alloc(cmp, base, n);
    else
        fi_sort_no_alloc(cmp, base, n);
}

static const fi_sort_ops *find_sort_ops(fi_comparator *cmp)
{
    const fi_sort_ops *ops = fi_sort_ops_for_numbers(cmp);

    return ops ? ops : fi_sort_ops_for_size(cmp->size);
}

static int sort_any(const char *function, void *base, size_t n, fi_comparator cmp, int stable)
{
    _Alignas(64) char scratch[SERIAL_MAX];
    const fi_sort_ops *ops = find_sort_ops(&cmp);

    if (fi_check_function(function, "compare", cmp.compare) < 0 ||
        fi_check_range(function, "base", base, n, cmp.size) < 0)
        return -EINVAL;
    if (n < 2)
        return 0;
    if (ops && n * cmp.size <= sizeof scratch)
        ops->sort(&cmp, base, base, scratch, n);
    else
        FILCH_RUN(sort_all, ops, &cmp, base, n, stable);
    return 0;
}

int filch_sort(void *base, size_t n, size_t size,
               int (*compare)(const void *a, const void *b, void *ctx), void *ctx)
{
    return sort_any("filch_sort", base, n,
                    (fi_comparator){.compare = compare, .ctx = ctx, .size = size}, 0);
}

int filch_sort_stable(void *base, size_t n, size_t size,
                      int (*compare)(const void *a, const void *b, void *ctx), void *ctx)
{
    return sort_any("filch_sort_stable", base, n,
                    (fi_comparator){.compare = compare, .ctx = ctx, .size = size}, 1);
}
