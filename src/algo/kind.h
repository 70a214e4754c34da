/* A kind of element: its size, and how two of them are compared, are known when it is compiled.  What moves and
 * compares single elements is written once, in the files *_of.h, and compiled for each kind; what hands out the
 * work to several workers is compiled once, and reaches elements through the functions of this table.
 *
 * Ranges come in pairs of equal length: the elements lie in `from`, which is one of `result` and `scratch`.
 * At the end they lie in `result`.
 */
#ifndef FI_ALGO_KIND_H
#define FI_ALGO_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How the elements are to lie. */
typedef struct fi_order {
    int (*compare)(const void *a, const void *b, void *ctx);
    void *ctx;
    size_t size;         /* of an element */
    uint64_t fold, flip; /* numbers: how bits become a key, see radix_of.h */
} fi_order;

struct fi_spread;

typedef struct fi_kind {
    size_t size;
    size_t spread_from; /* so many elements are worth being spread over buckets */
    bool keeps_buckets; /* spreading needs to remember a byte for each element */

    bool (*less)(const fi_order *o, const void *a, const void *b);
    /* Merge two ordered ranges; of equal elements, those of a come first. */
    void (*merge)(const fi_order *o, const void *a, size_t na, const void *b, size_t nb, void *out);
    /* Sort, stably. */
    void (*sort)(const fi_order *o, void *from, void *result, void *scratch, size_t n);
    /* How many elements from the first on go up, or strictly down.  n > 0 */
    size_t (*run)(const fi_order *o, const void *from, size_t n, bool *down);
    /* Swap the elements from lo to hi with those that lie as far from the end of the n. */
    void (*mirror)(void *from, size_t n, size_t lo, size_t hi);

    /* The steps of spread.c.  Those with a number run side by side. */
    void (*look)(struct fi_spread *s, size_t block); /* may be NULL */
    void (*choose)(struct fi_spread *s);
    void (*count)(struct fi_spread *s, size_t block);
    void (*move)(struct fi_spread *s, size_t block);
    void (*finish)(struct fi_spread *s, size_t bucket);
} fi_kind;

/* Compared by the function of the order. */
extern const fi_kind fi_kind_4, fi_kind_8, fi_kind_16, fi_kind_24;
/* Pointers to elements, compared by the function of the order. */
extern const fi_kind fi_kind_pointer;
/* Numbers, compared by their keys. */
extern const fi_kind fi_kind_number_4, fi_kind_number_8;

#endif
