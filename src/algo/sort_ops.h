/* Operations on one type of element: its size and its comparison are known at compile time.
 *
 * The code that moves and compares single elements is written once, in the templates *.inc, and
 * compiled for each type by sort_ops_*.c.  The code that divides work among workers is compiled
 * once and reaches elements through this table.
 *
 * Ranges come in pairs of equal length, `result` and `scratch`.  The elements are in `from`, which
 * is one of the two.  At the end they are in `result`.
 */
#ifndef FI_ALGO_SORT_OPS_H
#define FI_ALGO_SORT_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct fi_comparator {
    int (*compare)(const void *a, const void *b, void *ctx);
    void *ctx;
    size_t size;         /* of an element */
    uint64_t fold, flip; /* numbers: how bits become a key, see key.inc */
} fi_comparator;

struct fi_scatter;

typedef struct fi_sort_ops {
    size_t size;
    size_t scatter_min;    /* fewer elements are sorted without buckets */
    bool stores_bucket_of; /* scattering needs a byte of memory for each element */

    bool (*less)(const fi_comparator *cmp, const void *a, const void *b);
    /* Merge two sorted ranges.  Of equal elements, those of a come first. */
    void (*merge)(const fi_comparator *cmp, const void *a, size_t na, const void *b, size_t nb,
                  void *out);
    /* Stable sort. */
    void (*sort)(const fi_comparator *cmp, void *from, void *result, void *scratch, size_t n);
    /* Length of the ascending, or strictly descending, run at the start of from.  n > 0 */
    size_t (*run_length)(const fi_comparator *cmp, const void *from, size_t n, bool *descending);
    /* Reverse n elements, as far as the pairs lo to hi are concerned: swap i with n - 1 - i. */
    void (*reverse_pairs)(void *from, size_t n, size_t lo, size_t hi);

    /* The steps of scatter.c.  Those with an index run in parallel. */
    void (*find_key_range)(struct fi_scatter *s, size_t block); /* may be NULL */
    void (*choose_buckets)(struct fi_scatter *s);
    void (*count_block)(struct fi_scatter *s, size_t block);
    void (*move_block)(struct fi_scatter *s, size_t block);
    void (*sort_bucket)(struct fi_scatter *s, size_t bucket);
} fi_sort_ops;

/* Elements of 4 to 24 bytes, compared by the comparator's function. */
extern const fi_sort_ops fi_sort_ops_4, fi_sort_ops_8, fi_sort_ops_16, fi_sort_ops_24;
/* Pointers to elements, compared by the comparator's function. */
extern const fi_sort_ops fi_sort_ops_pointer;
/* Numbers, compared by their keys. */
extern const fi_sort_ops fi_sort_ops_number_4, fi_sort_ops_number_8;

#endif
