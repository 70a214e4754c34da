/* Elements of any size for tests of sorts and merges.  The key is the first one or two bytes.  The
 * rest identifies the element.  The bytes around the array must not change. */
#ifndef TESTS_UNIT_ALGO_ELEMENTS_H
#define TESTS_UNIT_ALGO_ELEMENTS_H

#include "check.h"

#include "base/rng.h"

#include <filch/algo.h>
#include <stdatomic.h>
#include <stdbool.h>

#define ELEMENTS_FENCE   64
#define ELEMENTS_FILL    0x5a
#define ELEMENTS_KEY_MAX 4095 /* of a key */

typedef struct elements {
    unsigned char *raw, *base, *wanted; /* wanted: the result of a stable sort */
    size_t n, size, offset;             /* offset: address of base, modulo 64 */
    atomic_size_t compared;
    bool downwards; /* inverted comparison; the function learns it from its context */
} elements;

static inline unsigned elements_key(const elements *e, const void *element)
{
    const unsigned char *p = element;

    return e->size == 1 ? p[0] : (unsigned)p[0] << 8 | p[1];
}

static inline void elements_set(elements *e, size_t i, unsigned key, fi_rng *r)
{
    unsigned char *p = e->base + i * e->size;

    for (size_t j = 0; j < e->size; j += 8) {
        uint64_t bits = fi_rng_next(r);
        memcpy(p + j, &bits, e->size - j < 8 ? e->size - j : 8);
    }
    p[0] = (unsigned char)(e->size == 1 ? key : key >> 8);
    if (e->size > 1)
        p[1] = (unsigned char)key;
}

/* The comparison.  This variant counts its calls, which is slow with many workers. */
static inline int elements_compare(const void *a, const void *b, void *ctx)
{
    elements *e = ctx;
    unsigned x = elements_key(e, a), y = elements_key(e, b);
    int way = (x > y) - (x < y);

    return e->downwards ? -way : way;
}

static inline int elements_count(const void *a, const void *b, void *ctx)
{
    elements *e = ctx;

    atomic_fetch_add_explicit(&e->compared, 1, memory_order_relaxed);
    return elements_compare(a, b, ctx);
}

static inline elements *elements_new(size_t n, size_t size, size_t offset)
{
    elements *e = calloc(1, sizeof *e);
    size_t bytes = n * size + (size_t)4 * ELEMENTS_FENCE;

    CHECK(e != NULL);
    e->raw = aligned_alloc(64, (bytes + 63) / 64 * 64);
    CHECK(e->raw != NULL);
    memset(e->raw, ELEMENTS_FILL, (bytes + 63) / 64 * 64);
    e->base = e->raw + ELEMENTS_FENCE + offset;
    e->n = n;
    e->size = size;
    e->offset = offset;
    e->wanted = malloc(n * size + 1);
    CHECK(e->wanted != NULL);
    return e;
}

static inline void elements_free(elements *e)
{
    free(e->wanted);
    free(e->raw);
    free(e);
}

/* Counting sort, which compares nothing. */
static inline void elements_want(elements *e)
{
    size_t *place = calloc(ELEMENTS_KEY_MAX + 2, sizeof *place);

    CHECK(place != NULL);
    for (size_t i = 0; i < e->n; i++) {
        unsigned key = elements_key(e, e->base + i * e->size);
        place[(e->downwards ? ELEMENTS_KEY_MAX - key : key) + 1]++;
    }
    for (size_t i = 1; i <= ELEMENTS_KEY_MAX; i++)
        place[i] += place[i - 1];
    for (size_t i = 0; i < e->n; i++) {
        unsigned key = elements_key(e, e->base + i * e->size);
        size_t at = place[e->downwards ? ELEMENTS_KEY_MAX - key : key]++;
        memcpy(e->wanted + at * e->size, e->base + i * e->size, e->size);
    }
    free(place);
}

static inline bool elements_fenced(const elements *e)
{
    const unsigned char *before = e->base - ELEMENTS_FENCE, *behind = e->base + e->n * e->size;

    for (size_t i = 0; i < ELEMENTS_FENCE; i++)
        if (before[i] != ELEMENTS_FILL || behind[i] != ELEMENTS_FILL)
            return false;
    return true;
}

static inline bool elements_stable(const elements *e)
{
    return memcmp(e->base, e->wanted, e->n * e->size) == 0 && elements_fenced(e);
}

static inline uint64_t elements_hash(const unsigned char *p, size_t size)
{
    uint64_t h = 1469598103934665603u;

    for (size_t i = 0; i < size; i++)
        h = (h ^ p[i]) * 1099511628211u;
    return h * h;
}

/* Check that the elements are the wanted ones, in any order. */
static inline bool elements_all_there(const elements *e)
{
    uint64_t here = 0, wanted = 0;

    for (size_t i = 0; i < e->n; i++) {
        here += elements_hash(e->base + i * e->size, e->size);
        wanted += elements_hash(e->wanted + i * e->size, e->size);
    }
    return here == wanted && elements_fenced(e);
}

/* Check that the keys are the wanted ones, in order. */
static inline bool elements_sorted(const elements *e)
{
    for (size_t i = 0; i < e->n; i++)
        if (elements_key(e, e->base + i * e->size) != elements_key(e, e->wanted + i * e->size))
            return false;
    return elements_all_there(e);
}

/* ---- patterns ---- */

enum { RANDOM, SORTED, REVERSED, FEW, ORGAN_PIPE, EQUAL, SAW, NEARLY, RUNS, PATTERNS };

static inline unsigned elements_value(int pattern, size_t i, size_t n, fi_rng *r)
{
    unsigned most = ELEMENTS_KEY_MAX, up = (unsigned)((double)i / (double)n * most);

    switch (pattern) {
    case SORTED:
        return up;
    case REVERSED:
        return most - up;
    case FEW:
        return fi_rng_below(r, 7) * 500;
    case ORGAN_PIPE:
        return up < most / 2 ? up : most - up;
    case EQUAL:
        return 77;
    case SAW:
        return (unsigned)(i % 37) * 100;
    case NEARLY:
        return fi_rng_below(r, 50) == 0 ? fi_rng_below(r, most) : up;
    case RUNS:
        return (unsigned)((i % (n / 5 + 1)) * most / (n / 5 + 1));
    default:
        return fi_rng_below(r, most + 1);
    }
}

static inline void elements_lay(elements *e, int pattern, fi_rng *r)
{
    for (size_t i = 0; i < e->n; i++) {
        unsigned value = elements_value(pattern, i, e->n, r);
        elements_set(e, i, e->size == 1 ? value >> 4 : value, r);
    }
    elements_want(e);
}

#endif
