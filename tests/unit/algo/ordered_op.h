/* An operation that is not commutative: joins adjacent intervals and detects a gap. */
#ifndef TESTS_UNIT_ALGO_ORDERED_OP_H
#define TESTS_UNIT_ALGO_ORDERED_OP_H

#include <stddef.h>

typedef struct interval {
    size_t lo, hi;
    int has_gap;
    char more[200]; /* larger than a register */
} interval;

static inline void append(interval *s, size_t lo, size_t hi)
{
    if (s->lo == s->hi)
        s->lo = lo;
    else if (s->hi != lo)
        s->has_gap = 1;
    s->hi = hi;
}

static inline void note(size_t lo, size_t hi, void *acc, void *ctx)
{
    (void)ctx;
    append(acc, lo, hi);
}

static inline void join(void *acc, const void *other, void *ctx)
{
    const interval *o = other;
    interval *s = acc;

    (void)ctx;
    s->has_gap |= o->has_gap;
    append(s, o->lo, o->hi);
}

#endif
