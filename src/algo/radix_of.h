/* Sorting by digits of the keys, for numbers of one size.
 *
 * Few workers have their eyes on all of the memory at once only in the first step, where the highest digit spreads the
 * numbers over buckets.  A bucket fits into a cache near its worker, and is sorted there from its lowest digit up.
 */
#include "algo/spread.h"

#define DIGIT  8
#define VALUES 256 /* of a digit */
#define AHEAD  4   /* digits that are counted at once */
#define FEW    200 /* elements: they are compared */
#define MANY   8   /* times what is worth being spread: a bucket that is spread again */

typedef struct span {
    KEY least, most;
} span;

static span find_span(keys k, const element *from, size_t n)
{
    span s = {key_of(k, from), key_of(k, from)};

    for (size_t i = 1; i < n; i++) {
        KEY key = key_of(k, from + i);
        s.least = key < s.least ? key : s.least;
        s.most = key > s.most ? key : s.most;
    }
    return s;
}

static unsigned bits_in(WORD x)
{
    return x == 0 ? 0 : 64 - (unsigned)__builtin_clzll(x);
}

/* ---- from the lowest digit up ---- */

typedef uint32_t counts[AHEAD][VALUES];

static inline __attribute__((always_inline)) void count_so_many(keys k, const element *from,
                                                                size_t n, KEY least, unsigned shift,
                                                                counts c, int digits)
{
    for (size_t i = 0; i < n; i++) {
        WORD key = distance(k, least, from + i) >> shift;

        for (int d = 0; d < digits; d++)
            c[d][(key >> (d * DIGIT)) % VALUES]++;
    }
}

/* With a number that the compiler knows, as there is one step for each. */
static void count_digits(keys k, const element *from, size_t n, KEY least, unsigned shift, counts c,
                         unsigned bits)
{
    memset(c, 0, sizeof(counts));
    if (bits > 3 * DIGIT)
        count_so_many(k, from, n, least, shift, c, 4);
    else if (bits > 2 * DIGIT)
        count_so_many(k, from, n, least, shift, c, 3);
    else
        count_so_many(k, from, n, least, shift, c, 2);
}

static void sum_up(uint32_t *count)
{
    uint32_t sum = 0;

    for (int i = 0; i < VALUES; i++) {
        uint32_t here = count[i];
        count[i] = sum;
        sum += here;
    }
}

static void move_by_digit(keys k, const element *from, size_t n, element *to, KEY least,
                          unsigned shift, uint32_t *place)
{
    for (size_t i = 0; i < n; i++) {
        element e = from[i];

        to[place[(distance(k, least, &e) >> shift) % VALUES]++] = e;
    }
}

static void sort_digits(const fi_order *o, element *from, element *result, element *scratch,
                        size_t n, span s)
{
    keys k = keys_of(o);
    counts c;
    unsigned bits = bits_in((WORD)s.most - (WORD)s.least), shift = 0;

    for (int d = 0; shift < bits; d++, shift += DIGIT) {
        element *to = from == result ? scratch : result;

        if (d % AHEAD == 0)
            count_digits(k, from, n, s.least, shift, c, bits - shift);
        sum_up(c[d % AHEAD]);
        move_by_digit(k, from, n, to, s.least, shift, c[d % AHEAD]);
        from = to;
    }
    if (from != result)
        copy(result, from, n);
}

static void sort_numbers(const fi_order *o, void *from, void *result, void *scratch, size_t n)
{
    if (n <= FEW || n > UINT32_MAX)
        quick(o, from, result, scratch, n);
    else
        sort_digits(o, from, result, scratch, n, find_span(keys_of(o), from, n));
}

/* ---- spreading by the highest digit ---- */

/* Until the count, the places of a block hold what it has found. */
static void look(fi_spread *s, size_t block)
{
    const element *from = (const element *)s->from + fi_spread_first(s, block);
    span found = find_span(keys_of(s->order), from, fi_spread_length(s, block));

    memcpy(s->place[block], &found, sizeof found);
}

static span collect_span(fi_spread *s)
{
    span all;

    memcpy(&all, s->place[0], sizeof all);
    for (size_t i = 0; i < s->blocks; i++) {
        span here;

        memcpy(&here, s->place[i], sizeof here);
        memset(s->place[i], 0, sizeof here);
        all.least = here.least < all.least ? here.least : all.least;
        all.most = here.most > all.most ? here.most : all.most;
    }
    return all;
}

static unsigned first_digit(size_t n)
{
    unsigned bits = DIGIT;

    while (bits > 2 && n >> bits < 4096)
        bits--;
    return bits;
}

static void choose(fi_spread *s)
{
    span all = collect_span(s);
    WORD length = (WORD)all.most - (WORD)all.least;
    unsigned bits = bits_in(length), digit = first_digit(s->n);

    s->least = all.least;
    s->shift = bits > digit ? bits - digit : 0;
    s->buckets = bits == 0 ? 0 : (size_t)(length >> s->shift) + 1;
}

static inline size_t bucket_of(keys k, KEY least, unsigned shift, const element *e)
{
    return (size_t)((WORD)(key_of(k, e) - least) >> shift);
}

static void count(fi_spread *s, size_t block)
{
    const element *from = (const element *)s->from + fi_spread_first(s, block);
    size_t n = fi_spread_length(s, block), *place = s->place[block];
    keys k = keys_of(s->order);
    unsigned shift = s->shift;
    KEY least = (KEY)s->least;

    for (size_t i = 0; i < n; i++)
        place[distance(k, least, from + i) >> shift]++;
}

static void move(fi_spread *s, size_t block)
{
    const element *from = (const element *)s->from + fi_spread_first(s, block);
    size_t n = fi_spread_length(s, block), *place = s->place[block];
    element *to = (element *)s->to;
    keys k = keys_of(s->order);
    unsigned shift = s->shift;
    KEY least = (KEY)s->least;

    for (size_t i = 0; i < n; i++) {
        element e = from[i];

        to[place[distance(k, least, &e) >> shift]++] = e;
    }
}

static void finish(fi_spread *s, size_t bucket)
{
    size_t first = s->start[bucket], n = s->start[bucket + 1] - first;
    element *to = (element *)s->to + first, *from = (element *)s->from + first;
    element *result = s->back ? from : to, *scratch = s->back ? to : from;

    if (s->shift > 0 && n > MANY * s->kind->spread_from)
        fi_sort_range(s->kind, s->order, to, result, scratch, n, NULL);
    else if (s->shift > 0)
        sort_numbers(s->order, to, result, scratch, n);
    else if (s->back)
        copy(from, to, n);
}

#define KIND_BY_DIGITS                                                                             \
    {                                                                                              \
        .size = SIZE, .spread_from = 16384, .less = less, .merge = merge_any,                      \
        .sort = sort_numbers, .run = run, .mirror = mirror, .look = look, .choose = choose,        \
        .count = count, .move = move, .finish = finish                                             \
    }
