/* Which bucket an element belongs to, for one kind of element: found between splitters, that are taken from a sorted
 * sample.
 *
 * Bucket i is for what lies before splitter i, and not before splitter i - 1.  Where the sample has an element
 * several times, there are half as many splitters, all different, and each has a bucket of its own, for elements equal
 * to it: these need no more sorting.
 */
#include "algo/spread.h"

#define OVERSAMPLING 16 /* elements of the sample for each bucket */

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* One element of each of as many stretches of equal length, so no pattern is overlooked. */
static void take_sample(const element *from, size_t n, element *sample, size_t wanted)
{
    size_t stretch = n / wanted;
    uint64_t state = n;

    for (size_t i = 0; i < wanted; i++)
        sample[i] = from[i * stretch + next_random(&state) % stretch];
}

/* Every step-th of the sample.  False if some of them are equal: the first of equals is kept. */
static bool take_splitters(const fi_order *o, const element *sample, size_t step, element *splitter,
                           size_t *n)
{
    size_t kept = 0, wanted = *n;

    for (size_t i = 0; i < wanted; i++) {
        const element *e = sample + (i + 1) * step;
        if (kept == 0 || LESS(o, splitter + kept - 1, e))
            splitter[kept++] = *e;
    }
    *n = kept;
    return kept == wanted;
}

/* From the node numbered `at`, whose children are 2 at and 2 at + 1, all nodes < n in order. */
static const element *fill_tree(element *tree, size_t n, size_t at, const element *next)
{
    if (at >= n)
        return next;
    next = fill_tree(tree, n, 2 * at, next);
    tree[at] = *next;
    return fill_tree(tree, n, 2 * at + 1, next + 1);
}

static size_t buckets_for(size_t n)
{
    size_t buckets = FI_BUCKETS;

    while (buckets > 4 && n / buckets < 1024)
        buckets /= 2;
    return buckets;
}

static void choose(fi_spread *s)
{
    element *sample = (element *)s->to, *splitter = (element *)s->splitter;
    size_t buckets = buckets_for(s->n), taken = buckets * OVERSAMPLING, n = buckets - 1;

    take_sample((const element *)s->from, s->n, sample, taken);
    quick(s->order, sample, sample, sample + taken, taken);
    s->equals = !take_splitters(s->order, sample, OVERSAMPLING, splitter, &n);
    s->buckets = buckets;
    if (s->equals) {
        buckets /= 2;
        n = buckets - 1;
        take_splitters(s->order, sample, (size_t)2 * OVERSAMPLING, splitter, &n);
    }
    for (; n < buckets; n++) /* nothing lies between these */
        splitter[n] = splitter[n - 1];
    fill_tree((element *)s->tree, buckets, 1, splitter);
}

static inline size_t find_leaf(const fi_order *o, const element *tree, size_t leaves,
                               const element *e)
{
    size_t at = 1;

    while (at < leaves)
        at = 2 * at + !LESS(o, e, tree + at);
    return at - leaves;
}

static void count_between(const fi_spread *s, const element *from, size_t n, unsigned char *bucket,
                          size_t *count)
{
    const element *tree = (const element *)s->tree;

    for (size_t i = 0; i < n; i++) {
        size_t at = find_leaf(s->order, tree, s->buckets, from + i);

        bucket[i] = (unsigned char)at;
        count[at]++;
    }
}

/* Of leaf 0 nothing is equal to the splitter before it, as there is none. */
static void count_with_equals(const fi_spread *s, const element *from, size_t n,
                              unsigned char *bucket, size_t *count)
{
    const element *tree = (const element *)s->tree, *splitter = (const element *)s->splitter;

    for (size_t i = 0; i < n; i++) {
        size_t leaf = find_leaf(s->order, tree, s->buckets / 2, from + i);
        size_t before = leaf - (leaf > 0);
        size_t at = 2 * leaf + (LESS(s->order, splitter + before, from + i) || leaf == 0);

        bucket[i] = (unsigned char)at;
        count[at]++;
    }
}

static void count(fi_spread *s, size_t block)
{
    size_t first = fi_spread_first(s, block), n = fi_spread_length(s, block);
    const element *from = (const element *)s->from + first;

    (s->equals ? count_with_equals : count_between)(s, from, n, s->bucket_of + first,
                                                    s->place[block]);
}

static void move(fi_spread *s, size_t block)
{
    size_t first = fi_spread_first(s, block), n = fi_spread_length(s, block);
    const element *from = (const element *)s->from + first;
    const unsigned char *bucket = s->bucket_of + first;
    element *to = (element *)s->to;
    size_t *place = s->place[block];

    for (size_t i = 0; i < n; i++)
        to[place[bucket[i]]++] = from[i];
}

static void finish(fi_spread *s, size_t bucket)
{
    size_t first = s->start[bucket], n = s->start[bucket + 1] - first;
    element *to = (element *)s->to + first, *from = (element *)s->from + first;
    element *result = s->back ? from : to, *scratch = s->back ? to : from;

    if (!s->equals || bucket % 2 == 1)
        quick(s->order, to, result, scratch, n);
    else if (s->back)
        copy(from, to, n);
}

#define KIND_BY_SAMPLES                                                                            \
    {                                                                                              \
        .size = SIZE, .spread_from = 16384, .keeps_buckets = true, .less = less,                   \
        .merge = merge_any, .sort = quick, .run = run, .mirror = mirror, .choose = choose,         \
        .count = count, .move = move, .finish = finish                                             \
    }
