/* An operation whose order matters: a stretch of numbers, without gaps. */
#ifndef TESTS_UNIT_ALGO_ORDERED_OP_H
#define TESTS_UNIT_ALGO_ORDERED_OP_H

#include <stddef.h>

typedef struct stretch {
    size_t lo, hi;
    int broken;
    char more[200]; /* not a size that fits a register */
} stretch;

static inline void append(stretch *s, size_t lo, size_t hi)
{
    if (s->lo == s->hi)
        s->lo = lo;
    else if (s->hi != lo)
        s->broken = 1;
    s->hi = hi;
}

static inline void note(size_t lo, size_t hi, void *acc, void *ctx)
{
    (void)ctx;
    append(acc, lo, hi);
}

static inline void join(void *acc, const void *other, void *ctx)
{
    const stretch *o = other;
    stretch *s = acc;

    (void)ctx;
    s->broken |= o->broken;
    append(s, o->lo, o->hi);
}

#endif
