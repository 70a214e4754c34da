/* A merge sort in place: two ordered ranges are cut so that the end of the first and the beginning of the second,
 * which are equally long or not, change places; what is left are two merges of half the length. */
#include "algo/in_place.h"

#include <filch/task.h>

#define SHORT      12
#define WORTH_TASK 512

static char *at(const fi_order *o, char *base, size_t i)
{
    return base + i * o->size;
}

static void reverse(const fi_order *o, char *base, size_t n)
{
    for (size_t i = 0; i < n / 2; i++)
        fi_swap(o, base, i, n - 1 - i);
}

/* The first n go behind the other m. */
static void rotate(const fi_order *o, char *base, size_t n, size_t m)
{
    if (n == 0 || m == 0)
        return;
    reverse(o, base, n);
    reverse(o, at(o, base, n), m);
    reverse(o, base, n + m);
}

/* The first place in the range from lo to hi at which what lies at `key` could be put: before its equals, or behind. */
static size_t place_of(const fi_order *o, const char *base, size_t lo, size_t hi, size_t key,
                       bool behind)
{
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        bool right = behind ? !fi_is_less(o, base, key, middle) : fi_is_less(o, base, middle, key);

        if (right)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

typedef struct cuts {
    size_t first, second; /* elements of each range before its cut */
} cuts;

/* The longer range is cut in the middle, the other where that belongs. */
static cuts find_cuts(const fi_order *o, const char *base, size_t n, size_t m)
{
    cuts c = {n / 2, m / 2};

    if (n > m)
        c.second = place_of(o, base, n, n + m, c.first, false) - n;
    else
        c.first = place_of(o, base, 0, n, n + c.second, true);
    return c;
}

FILCH_VOID_TASK(merge_in_place, const fi_order *, o, char *, base, size_t, n, size_t, m)
{
    if (n == 0 || m == 0 || !fi_is_less(o, base, n, n - 1))
        return;
    if (n + m == 2) {
        fi_swap(o, base, 0, 1);
        return;
    }
    cuts c = find_cuts(o, base, n, m);
    size_t front = c.first + c.second;

    rotate(o, at(o, base, c.first), n - c.first, c.second);
    if (n + m > WORTH_TASK) {
        FILCH_SPAWN(merge_in_place, o, base, c.first, c.second);
        FILCH_CALL(merge_in_place, o, at(o, base, front), n - c.first, m - c.second);
        FILCH_SYNC(merge_in_place);
    } else {
        FILCH_CALL(merge_in_place, o, base, c.first, c.second);
        FILCH_CALL(merge_in_place, o, at(o, base, front), n - c.first, m - c.second);
    }
}

FILCH_VOID_TASK(sort_stably, const fi_order *, o, char *, base, size_t, n)
{
    size_t half = n / 2;

    if (n <= SHORT) {
        fi_insert_each(o, base, n);
        return;
    }
    FILCH_SPAWN(sort_stably, o, base, half);
    FILCH_CALL(sort_stably, o, at(o, base, half), n - half);
    FILCH_SYNC(sort_stably);
    FILCH_CALL(merge_in_place, o, base, half, n - half);
}

void fi_sort_stable_in_place(const fi_order *o, void *base, size_t n)
{
    FILCH_RUN(sort_stably, o, base, n);
}
