/* Comparison functions for the usual types.  The sort recognises those for numbers. */
#include "algo/compare.h"

#include <filch/algo.h>
#include <string.h>

#define HIGHEST_32 ((uint64_t)1 << 31)
#define HIGHEST_64 ((uint64_t)1 << 63)

#define COMPARE_NUMBERS(name, type)                                                                \
    int filch_compare_##name(const void *a, const void *b, void *ctx)                              \
    {                                                                                              \
        type x, y;                                                                                 \
                                                                                                   \
        (void)ctx;                                                                                 \
        memcpy(&x, a, sizeof x);                                                                   \
        memcpy(&y, b, sizeof y);                                                                   \
        return (x > y) - (x < y);                                                                  \
    }
COMPARE_NUMBERS(int, int)
COMPARE_NUMBERS(long, long)
COMPARE_NUMBERS(int32, int32_t)
COMPARE_NUMBERS(uint32, uint32_t)
COMPARE_NUMBERS(int64, int64_t)
COMPARE_NUMBERS(uint64, uint64_t)

/* Compare bits, so that every value, including NaN, has a place in the order.  All bits of a
 * negative number but the sign are inverted. */
int filch_compare_float(const void *a, const void *b, void *ctx)
{
    int32_t x, y;

    (void)ctx;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    x ^= x < 0 ? INT32_MAX : 0;
    y ^= y < 0 ? INT32_MAX : 0;
    return (x > y) - (x < y);
}

int filch_compare_double(const void *a, const void *b, void *ctx)
{
    int64_t x, y;

    (void)ctx;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    x ^= x < 0 ? INT64_MAX : 0;
    y ^= y < 0 ? INT64_MAX : 0;
    return (x > y) - (x < y);
}

int filch_compare_string(const void *a, const void *b, void *ctx)
{
    const char *x, *y;

    (void)ctx;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return strcmp(x, y);
}

/* ---- recognise a function ---- */

typedef struct number_order {
    int (*compare)(const void *a, const void *b, void *ctx);
    const fi_sort_ops *ops;
    uint64_t fold, flip;
} number_order;

static const number_order number_orders[] = {
    {filch_compare_int, &fi_sort_ops_number_4, 0, 0},
    {filch_compare_long, sizeof(long) == 8 ? &fi_sort_ops_number_8 : &fi_sort_ops_number_4, 0, 0},
    {filch_compare_int32, &fi_sort_ops_number_4, 0, 0},
    {filch_compare_uint32, &fi_sort_ops_number_4, 0, HIGHEST_32},
    {filch_compare_int64, &fi_sort_ops_number_8, 0, 0},
    {filch_compare_uint64, &fi_sort_ops_number_8, 0, HIGHEST_64},
    {filch_compare_float, &fi_sort_ops_number_4, HIGHEST_32 - 1, 0},
    {filch_compare_double, &fi_sort_ops_number_8, HIGHEST_64 - 1, 0},
};

const fi_sort_ops *fi_sort_ops_for_numbers(fi_comparator *cmp)
{
    for (size_t i = 0; i < sizeof number_orders / sizeof *number_orders; i++) {
        const number_order *o = &number_orders[i];

        if (o->compare == cmp->compare && o->ops->size == cmp->size) {
            cmp->fold = o->fold;
            cmp->flip = o->flip;
            return o->ops;
        }
    }
    return NULL;
}
