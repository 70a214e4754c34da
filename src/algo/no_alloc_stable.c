/* Stable merge sort in place.  A merge finds a cut in each of its two sorted ranges and exchanges
 * the end of the first range with the start of the second.  Two merges of about half the length
 * remain. */
#include "algo/no_alloc.h"

#include <filch/task.h>

#define INSERTION_SORT_MAX 12
#define TASK_MIN           512

static char *element_at(const fi_comparator *cmp, char *base, size_t i)
{
    return base + i * cmp->size;
}

static void reverse(const fi_comparator *cmp, char *base, size_t n)
{
    for (size_t i = 0; i < n / 2; i++)
        fi_swap(cmp, base, i, n - 1 - i);
}

/* Exchange the first n elements with the m elements after them. */
static void rotate(const fi_comparator *cmp, char *base, size_t n, size_t m)
{
    if (n == 0 || m == 0)
        return;
    reverse(cmp, base, n);
    reverse(cmp, element_at(cmp, base, n), m);
    reverse(cmp, base, n + m);
}

/* Lower bound, or upper bound, of element `key` in the sorted range from lo to hi. */
static size_t find_bound(const fi_comparator *cmp, const char *base, size_t lo, size_t hi,
                         size_t key, bool behind)
{
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        bool right =
            behind ? !fi_is_less(cmp, base, key, middle) : fi_is_less(cmp, base, middle, key);

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

/* Cut the longer range in the middle, and the other where that element belongs. */
static cuts find_cuts(const fi_comparator *cmp, const char *base, size_t n, size_t m)
{
    cuts c = {n / 2, m / 2};

    if (n > m)
        c.second = find_bound(cmp, base, n, n + m, c.first, false) - n;
    else
        c.first = find_bound(cmp, base, 0, n, n + c.second, true);
    return c;
}

FILCH_VOID_TASK(merge_in_place, const fi_comparator *, cmp, char *, base, size_t, n, size_t, m)
{
    if (n == 0 || m == 0 || !fi_is_less(cmp, base, n, n - 1))
        return;
    if (n + m == 2) {
        fi_swap(cmp, base, 0, 1);
        return;
    }
    cuts c = find_cuts(cmp, base, n, m);
    size_t front = c.first + c.second;

    rotate(cmp, element_at(cmp, base, c.first), n - c.first, c.second);
    if (n + m > TASK_MIN) {
        FILCH_SPAWN(merge_in_place, cmp, base, c.first, c.second);
        FILCH_CALL(merge_in_place, cmp, element_at(cmp, base, front), n - c.first, m - c.second);
        FILCH_SYNC(merge_in_place);
    } else {
        FILCH_CALL(merge_in_place, cmp, base, c.first, c.second);
        FILCH_CALL(merge_in_place, cmp, element_at(cmp, base, front), n - c.first, m - c.second);
    }
}

FILCH_VOID_TASK(merge_sort_task, const fi_comparator *, cmp, char *, base, size_t, n)
{
    size_t half = n / 2;

    if (n <= INSERTION_SORT_MAX) {
        fi_insertion_sort(cmp, base, n);
        return;
    }
    FILCH_SPAWN(merge_sort_task, cmp, base, half);
    FILCH_CALL(merge_sort_task, cmp, element_at(cmp, base, half), n - half);
    FILCH_SYNC(merge_sort_task);
    FILCH_CALL(merge_in_place, cmp, base, half, n - half);
}

void fi_sort_stable_no_alloc(const fi_comparator *cmp, void *base, size_t n)
{
    FILCH_RUN(merge_sort_task, cmp, base, n);
}
