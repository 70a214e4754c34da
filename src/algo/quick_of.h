/* A quicksort that keeps the order of equal elements, for one kind of element.
 *
 * A range and its scratch are both written to: what is less than the pivot goes to the front of the one, the rest to the
 * front of the other, so no branch depends on a comparison, and nothing changes its order.  The half that lies in
 * the scratch is sorted back from there.  Short ranges, and those whose pivots were bad too often, are merged from
 * fours.
 */
#include <filch/task.h>

#define SHORT      32   /* elements, that are merged */
#define WORTH_TASK 2048 /* elements, that others may take */
#define BAD_PIVOTS 8

/* By insertion; from may be to. */
static void sort_few(const fi_order *o, const element *from, element *to, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        ALIGNED element x = from[i];
        size_t j = i;

        for (; j > 0 && LESS(o, &x, to + j - 1); j--)
            to[j] = to[j - 1];
        to[j] = x;
    }
}

/* Two pairs, then the least, the last, and the two between.  from may be to. */
static inline void sort_four(const fi_order *o, const element *from, element *to)
{
    int ab = LESS(o, from + 1, from), cd = LESS(o, from + 3, from + 2);
    const element *a = from + ab, *b = from + !ab, *c = from + 2 + cd, *d = from + 2 + !cd;
    int ac = LESS(o, c, a), bd = LESS(o, d, b);
    const element *left = either(ac, either(bd, b, c), a);
    const element *right = either(bd, either(ac, c, b), d);
    int between = LESS(o, right, left);
    element first = *either(ac, a, c), last = *either(bd, d, b);
    element second = *either(between, left, right), third = *either(between, right, left);

    to[0] = first;
    to[1] = second;
    to[2] = third;
    to[3] = last;
}

static void sort_fours(const fi_order *o, const element *from, element *to, size_t n)
{
    size_t i = 0;

    for (; n - i >= 4; i += 4)
        sort_four(o, from + i, to + i);
    sort_few(o, from + i, to + i, n - i);
}

static void merge_pairs(const fi_order *o, const element *from, element *to, size_t n, size_t width)
{
    while (n > width) {
        size_t both = n - width < width ? n : 2 * width;

        merge(o, from, width, from + width, both - width, to);
        from += both;
        to += both;
        n -= both;
    }
    copy(to, from, n);
}

static bool takes_odd_rounds(size_t n)
{
    bool odd = false;

    for (size_t width = 4; width < n; width *= 2)
        odd = !odd;
    return odd;
}

/* Begins in the one of the two from which the last round leads to the result. */
static void sort_by_merging(const fi_order *o, const element *from, element *result,
                            element *scratch, size_t n)
{
    element *now = takes_odd_rounds(n) ? scratch : result;

    sort_fours(o, from, now, n);
    for (size_t width = 4; width < n; width *= 2) {
        element *next = now == result ? scratch : result;

        merge_pairs(o, now, next, n, width);
        now = next;
    }
}

static const element *median_of_three(const fi_order *o, const element *a, const element *b,
                                      const element *c)
{
    if (LESS(o, b, a)) {
        const element *x = a;
        a = b;
        b = x;
    }
    if (!LESS(o, c, b))
        return b;
    return LESS(o, c, a) ? a : c;
}

/* The median of three medians of three medians... */
static const element *find_pivot(const fi_order *o, const element *from, size_t n, int levels)
{
    size_t third = n / 3;

    if (levels == 0)
        return from + n / 2;
    return median_of_three(o, find_pivot(o, from, third, levels - 1),
                           find_pivot(o, from + third, third, levels - 1),
                           find_pivot(o, from + 2 * third, third, levels - 1));
}

static const element *choose_pivot(const fi_order *o, const element *from, size_t n)
{
    return find_pivot(o, from, n, n < 128 ? 1 : n < 2048 ? 2 : n < 65536 ? 3 : 4);
}

/* How many are less than the pivot.  from is one of the two. */
static size_t part_less(const fi_order *o, const element *from, size_t n, element *less,
                        element *rest, const element *pivot)
{
    size_t found = 0;

    for (size_t i = 0; i < n; i++) {
        int yes = LESS(o, from + i, pivot);
        element x = from[i];

        less[found] = x;
        rest[i - found] = x;
        found += (size_t)yes;
    }
    return found;
}

/* How many are not greater. */
static size_t part_equal(const fi_order *o, const element *from, size_t n, element *equal,
                         element *rest, const element *pivot)
{
    size_t found = 0;

    for (size_t i = 0; i < n; i++) {
        int yes = !LESS(o, pivot, from + i);
        element x = from[i];

        equal[found] = x;
        rest[i - found] = x;
        found += (size_t)yes;
    }
    return found;
}

typedef struct range {
    element *from, *result, *scratch;
    size_t n;
    int bad; /* pivots, so far */
} range;

/* Cut *r in two; the smaller part becomes *part.  Where nothing is less than the pivot, those equal to it are
 * done.  n of the part may be 0. */
static void cut(const fi_order *o, range *r, range *part)
{
    ALIGNED element pivot = *choose_pivot(o, r->from, r->n);
    size_t less = part_less(o, r->from, r->n, r->result, r->scratch, &pivot);
    size_t rest = r->n - less;
    range low = {r->result, r->result, r->scratch + rest, less, r->bad};
    range high = {r->scratch, r->result + less, r->scratch, rest, r->bad};

    if (less == 0) {
        size_t equal = part_equal(o, r->scratch, r->n, r->result, r->scratch, &pivot);
        low.n = 0;
        high.n -= equal;
        high.result += equal;
        high.bad += equal == 0;
    } else if (less < r->n / 16 || rest < r->n / 16) {
        low.bad++;
        high.bad++;
    }
    *part = low.n < high.n ? low : high;
    *r = low.n < high.n ? high : low;
}

static void sort_range_alone(const fi_order *o, range r)
{
    while (r.n > SHORT && r.bad < BAD_PIVOTS) {
        range part;

        cut(o, &r, &part);
        sort_range_alone(o, part);
    }
    sort_by_merging(o, r.from, r.result, r.scratch, r.n);
}

FILCH_VOID_TASK(sort_range, const fi_order *, o, range, r)
{
    int open = 0;

    while (r.n > WORTH_TASK && r.bad < BAD_PIVOTS) {
        range part;

        cut(o, &r, &part);
        if (part.n > SHORT) {
            FILCH_SPAWN(sort_range, o, part);
            open++;
        } else {
            sort_range_alone(o, part);
        }
    }
    sort_range_alone(o, r);
    for (; open > 0; open--)
        FILCH_SYNC(sort_range);
}

static void quick(const fi_order *o, void *from, void *result, void *scratch, size_t n)
{
    range r = {from, result, scratch, n, 0};

    if (n > WORTH_TASK)
        FILCH_RUN(sort_range, o, r);
    else
        sort_range_alone(o, r);
}
