/* The algorithms of a serial build (FILCH_SERIAL).  <filch/algo.h> includes this file.
 *
 * filch_reduce and filch_scan split the range as the library does, so that their results have the
 * same bits. */
#ifndef FILCH_SERIAL_ALGO_H
#define FILCH_SERIAL_ALGO_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

FILCH_API size_t filch_serial_min_(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- loops ---- */

FILCH_API void filch_for(size_t lo, size_t hi, size_t grain,
                         void (*body)(size_t lo, size_t hi, void *ctx), void *ctx)
{
    size_t next;

    for (; lo < hi; lo = next) {
        next = grain == 0 ? hi : lo + filch_serial_min_(grain, hi - lo);
        body(lo, next, ctx);
    }
}

FILCH_API int filch_for_fallible(size_t lo, size_t hi, size_t grain,
                                 int (*body)(size_t lo, size_t hi, void *ctx), void *ctx)
{
    size_t next;
    int e = 0;

    if (!body)
        return -EINVAL;
    if (grain == 0)
        grain = hi > lo ? (hi - lo - 1) / 1024 + 1 : 1;
    for (; lo < hi && e == 0; lo = next) {
        next = lo + filch_serial_min_(grain, hi - lo);
        e = body(lo, next, ctx);
    }
    return e;
}

FILCH_API void filch_for_tiles(const filch_tile *all, size_t rows, size_t columns,
                               void (*body)(const filch_tile *tile, void *ctx), void *ctx)
{
    filch_tile t;

    if (all->row_hi <= all->row_lo || all->column_hi <= all->column_lo)
        return;
    if (rows == 0)
        rows = (all->row_hi - all->row_lo - 1) / 32 + 1;
    if (columns == 0)
        columns = (all->column_hi - all->column_lo - 1) / 32 + 1;
    for (t.row_lo = all->row_lo; t.row_lo < all->row_hi; t.row_lo = t.row_hi) {
        t.row_hi = t.row_lo + filch_serial_min_(rows, all->row_hi - t.row_lo);
        for (t.column_lo = all->column_lo; t.column_lo < all->column_hi;
             t.column_lo = t.column_hi) {
            t.column_hi = t.column_lo + filch_serial_min_(columns, all->column_hi - t.column_lo);
            body(&t, ctx);
        }
    }
}

FILCH_API void filch_invoke_(void (*const *functions)(void), size_t n)
{
    for (size_t i = 0; i < n; i++)
        functions[i]();
}

FILCH_API void filch_invoke_with_(void *ctx, void (*const *functions)(void *ctx), size_t n)
{
    for (size_t i = 0; i < n; i++)
        functions[i](ctx);
}

/* ---- pipelines: one item at a time ---- */

FILCH_API int filch_serial_is_kind_(filch_stage_kind kind)
{
    return kind == FILCH_STAGE_SERIAL || kind == FILCH_STAGE_PARALLEL;
}

FILCH_API int filch_pipeline(const filch_stage *stages, size_t n, size_t in_flight)
{
    void *item;

    (void)in_flight;
    for (size_t i = 0; i < n; i++)
        if (!stages || !stages[i].run || !filch_serial_is_kind_(stages[i].kind))
            return -EINVAL;
    if (n == 0)
        return -EINVAL;
    while ((item = stages[0].run(NULL, stages[0].ctx)) != NULL)
        for (size_t i = 1; i < n && item; i++)
            item = stages[i].run(item, stages[i].ctx);
    return 0;
}

FILCH_API int filch_pipeline_fallible(const filch_stage_fallible *stages, size_t n,
                                      size_t in_flight)
{
    void *item = NULL;
    size_t i;
    int e;

    (void)in_flight;
    for (i = 0; i < n; i++)
        if (!stages || !stages[i].run || !filch_serial_is_kind_(stages[i].kind))
            return -EINVAL;
    if (n == 0)
        return -EINVAL;
    do {
        item = NULL;
        i = 0;
        do
            e = stages[i].run(&item, stages[i].ctx);
        while (e == 0 && item && ++i < n);
    } while (e == 0 && (item || i > 0));
    if (e != 0 && item && stages[i].drop)
        stages[i].drop(item, stages[i].ctx);
    return e;
}

/* ---- reductions ---- */

typedef struct filch_serial_reduction_ {
    void (*map)(size_t lo, size_t hi, void *acc, void *ctx);
    int (*fallible_map)(size_t lo, size_t hi, void *acc, void *ctx); /* instead of map */
    void (*combine)(void *acc, const void *other, void *ctx);
    void (*drop)(void *acc, void *ctx); /* may be NULL */
    void *ctx;
    const void *identity;
    size_t size;
    size_t lo, hi, grain;
} filch_serial_reduction_;

/* After an error acc holds nothing. */
FILCH_API int filch_serial_map_(const filch_serial_reduction_ *r, size_t block, void *acc)
{
    size_t lo = r->lo + block * r->grain;
    size_t hi = lo + filch_serial_min_(r->grain, r->hi - lo);
    int e = 0;

    memcpy(acc, r->identity, r->size);
    if (r->fallible_map)
        e = r->fallible_map(lo, hi, acc, r->ctx);
    else
        r->map(lo, hi, acc, r->ctx);
    if (e != 0 && r->drop)
        r->drop(acc, r->ctx);
    return e;
}

FILCH_API int filch_serial_reduce_(const filch_serial_reduction_ *r, size_t first, size_t last,
                                   void *acc)
{
    char right[FILCH_REDUCE_MAX] __attribute__((aligned(64)));
    size_t middle = first + (last - first) / 2;
    int e;

    if (last - first == 1)
        return filch_serial_map_(r, first, acc);
    e = filch_serial_reduce_(r, first, middle, acc);
    if (e != 0)
        return e;
    e = filch_serial_reduce_(r, middle, last, right);
    if (e == 0)
        r->combine(acc, right, r->ctx);
    else if (r->drop)
        r->drop(acc, r->ctx);
    return e;
}

FILCH_API int filch_serial_reduce_all_(filch_serial_reduction_ *r, void *result)
{
    char all[FILCH_REDUCE_MAX] __attribute__((aligned(64)));
    int e;

    if (r->size > FILCH_REDUCE_MAX || (r->size > 0 && (!result || !r->identity)) ||
        !(r->map || r->fallible_map) || !r->combine)
        return -EINVAL;
    if (r->hi <= r->lo)
        return 0;
    if (r->grain == 0)
        r->grain = (r->hi - r->lo) / 1024 + 1;
    e = filch_serial_reduce_(r, 0, (r->hi - r->lo - 1) / r->grain + 1, all);
    if (e == 0)
        r->combine(result, all, r->ctx);
    return e;
}

FILCH_API int filch_reduce(size_t lo, size_t hi, size_t grain, void *result, const void *identity,
                           size_t size, void (*map)(size_t lo, size_t hi, void *acc, void *ctx),
                           void (*combine)(void *acc, const void *other, void *ctx), void *ctx)
{
    filch_serial_reduction_ r = {map, NULL, combine, NULL, ctx, identity, size, lo, hi, grain};

    return filch_serial_reduce_all_(&r, result);
}

FILCH_API int filch_reduce_fallible(size_t lo, size_t hi, size_t grain, void *result,
                                    const void *identity, size_t size,
                                    int (*map)(size_t lo, size_t hi, void *acc, void *ctx),
                                    void (*combine)(void *acc, const void *other, void *ctx),
                                    void (*drop)(void *acc, void *ctx), void *ctx)
{
    filch_serial_reduction_ r = {NULL, map, combine, drop, ctx, identity, size, lo, hi, grain};

    return filch_serial_reduce_all_(&r, result);
}

FILCH_API int filch_scan(size_t lo, size_t hi, size_t grain, void *result, const void *identity,
                         size_t size, void (*map)(size_t lo, size_t hi, void *acc, void *ctx),
                         void (*combine)(void *acc, const void *other, void *ctx),
                         void (*write)(size_t lo, size_t hi, void *acc, void *ctx), void *ctx)
{
    char own[FILCH_REDUCE_MAX] __attribute__((aligned(64)));
    char before[FILCH_REDUCE_MAX] __attribute__((aligned(64)));
    filch_serial_reduction_ r = {map, NULL, combine, NULL, ctx, identity, size, lo, hi, grain};
    size_t n = hi > lo ? hi - lo : 0;

    if (size > FILCH_REDUCE_MAX || (size > 0 && (!result || !identity)) || !map || !combine ||
        !write)
        return -EINVAL;
    if (grain == 0)
        r.grain = n / 256 < 128 ? n / 256 + 1 : 128;
    for (size_t block = 0; block < n / r.grain + (n % r.grain != 0); block++) {
        lo = r.lo + block * r.grain;
        filch_serial_map_(&r, block, own);
        memcpy(before, result, size);
        combine(result, own, ctx);
        write(lo, lo + filch_serial_min_(r.grain, hi - lo), before, ctx);
    }
    return 0;
}

/* ---- sorting and merging ---- */

typedef struct filch_serial_order_ {
    int (*compare)(const void *a, const void *b, void *ctx);
    void *ctx;
    size_t size;
} filch_serial_order_;

FILCH_API int filch_serial_is_range_(const void *base, size_t n, size_t size)
{
    return size > 0 && (base || n == 0) && n <= PTRDIFF_MAX / size;
}

/* Merge a and b into out.  b may be the end of out. */
FILCH_API void filch_serial_merge_(const filch_serial_order_ *o, const char *a, size_t na,
                                   const char *b, size_t nb, char *out)
{
    for (; na > 0 && nb > 0; out += o->size) {
        if (o->compare(a, b, o->ctx) <= 0) {
            memcpy(out, a, o->size);
            a += o->size, na--;
        } else {
            memmove(out, b, o->size);
            b += o->size, nb--;
        }
    }
    if (na > 0)
        memcpy(out, a, na * o->size);
    else if (nb > 0)
        memmove(out, b, nb * o->size);
}

FILCH_API void filch_serial_swap_(char *a, char *b, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        char c = a[i];
        a[i] = b[i];
        b[i] = c;
    }
}

/* Exchange the na elements at v with the nb elements after them. */
FILCH_API void filch_serial_rotate_(char *v, size_t na, size_t nb, size_t size)
{
    while (na > 0 && nb > 0) {
        size_t n = filch_serial_min_(na, nb);

        if (na <= nb) { /* the first n of b come to their place */
            filch_serial_swap_(v, v + na * size, n * size);
            v += n * size, nb -= n;
        } else { /* the last n of a come to their place */
            filch_serial_swap_(v + (na - n) * size, v + na * size, n * size);
            na -= n;
        }
    }
}

/* The number of elements before the first that must come after x. */
FILCH_API size_t filch_serial_bound_(const filch_serial_order_ *o, const char *v, size_t n,
                                     const char *x, int after_equal)
{
    size_t lo = 0, hi = n;

    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;

        if (o->compare(v + middle * o->size, x, o->ctx) < after_equal)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

/* Merge the na elements at v with the nb elements after them, without memory: bring an element from
 * the middle of the longer part to its place, and merge what is before and after it. */
FILCH_API void filch_serial_merge_in_place_(const filch_serial_order_ *o, char *v, size_t na,
                                            size_t nb)
{
    while (na > 0 && nb > 0) {
        char *b = v + na * o->size;
        size_t from_a = na > nb;
        size_t ka = na / 2, kb = nb / 2; /* elements of each part that come before that one */

        if (from_a)
            kb = filch_serial_bound_(o, b, nb, v + ka * o->size, 0);
        else
            ka = filch_serial_bound_(o, v, na, b + kb * o->size, 1);
        filch_serial_rotate_(v + ka * o->size, na - ka, kb + !from_a, o->size);
        filch_serial_merge_in_place_(o, v, ka, kb);
        v += (ka + kb + 1) * o->size;
        na -= ka + from_a;
        nb -= kb + !from_a;
    }
}

/* scratch: memory for half of the elements, or NULL. */
FILCH_API void filch_serial_sort_(const filch_serial_order_ *o, char *v, size_t n, char *scratch)
{
    size_t half = n / 2;
    char *right = v + half * o->size;

    if (n < 2)
        return;
    filch_serial_sort_(o, v, half, scratch);
    filch_serial_sort_(o, right, n - half, scratch);
    if (o->compare(right - o->size, right, o->ctx) <= 0)
        return;
    if (scratch) {
        memcpy(scratch, v, half * o->size);
        filch_serial_merge_(o, scratch, half, right, n - half, v);
    } else {
        filch_serial_merge_in_place_(o, v, half, n - half);
    }
}

FILCH_API int filch_sort_stable(void *base, size_t n, size_t size,
                                int (*compare)(const void *a, const void *b, void *ctx), void *ctx)
{
    filch_serial_order_ o = {compare, ctx, size};
    char *memory, *scratch = NULL;

    if (!compare || !filch_serial_is_range_(base, n, size))
        return -EINVAL;
    memory = (char *)malloc(n / 2 * size + 64);
    if (memory) /* aligned to 64 bytes */
        scratch = memory + (64 - (uintptr_t)memory % 64) % 64;
    filch_serial_sort_(&o, (char *)base, n, scratch);
    free(memory);
    return 0;
}

FILCH_API int filch_sort(void *base, size_t n, size_t size,
                         int (*compare)(const void *a, const void *b, void *ctx), void *ctx)
{
    return filch_sort_stable(base, n, size, compare, ctx);
}

FILCH_API int filch_merge(const void *a, size_t na, const void *b, size_t nb, void *out,
                          size_t size, int (*compare)(const void *a, const void *b, void *ctx),
                          void *ctx)
{
    filch_serial_order_ o = {compare, ctx, size};

    if (!compare || !filch_serial_is_range_(a, na, size) || !filch_serial_is_range_(b, nb, size) ||
        !filch_serial_is_range_(out, na + nb, size))
        return -EINVAL;
    filch_serial_merge_(&o, (const char *)a, na, (const char *)b, nb, (char *)out);
    return 0;
}

/* key: expression that orders x as a number does. */
#define FILCH_SERIAL_COMPARE_(name, type, key)                                                     \
    FILCH_API type filch_serial_##name##_(const void *p)                                           \
    {                                                                                              \
        type x;                                                                                    \
                                                                                                   \
        memcpy(&x, p, sizeof x);                                                                   \
        return key;                                                                                \
    }                                                                                              \
    FILCH_API int filch_compare_##name(const void *a, const void *b, void *ctx)                    \
    {                                                                                              \
        type x = filch_serial_##name##_(a), y = filch_serial_##name##_(b);                         \
                                                                                                   \
        (void)ctx;                                                                                 \
        return (x > y) - (x < y);                                                                  \
    }
FILCH_SERIAL_COMPARE_(int, int, x)
FILCH_SERIAL_COMPARE_(long, long, x)
FILCH_SERIAL_COMPARE_(int32, int32_t, x)
FILCH_SERIAL_COMPARE_(uint32, uint32_t, x)
FILCH_SERIAL_COMPARE_(int64, int64_t, x)
FILCH_SERIAL_COMPARE_(uint64, uint64_t, x)
/* All bits of a negative number but the sign are inverted. */
FILCH_SERIAL_COMPARE_(float, int32_t, x < 0 ? x ^ INT32_MAX : x)
FILCH_SERIAL_COMPARE_(double, int64_t, x < 0 ? x ^ INT64_MAX : x)

FILCH_API int filch_compare_string(const void *a, const void *b, void *ctx)
{
    const char *x, *y;

    (void)ctx;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return strcmp(x, y);
}

#endif
