/* Quicksort in place.  The pivot is moved to the front, so it need not be copied.  A range that was
 * partitioned too often is sorted by heap sort. */
#include "algo/no_alloc.h"

#include <filch/task.h>
#include <string.h>

#define INSERTION_SORT_MAX 12 /* elements */
#define TASK_MIN           1024

bool fi_is_less(const fi_comparator *cmp, const char *base, size_t i, size_t j)
{
    return cmp->compare(base + i * cmp->size, base + j * cmp->size, cmp->ctx) < 0;
}

void fi_swap(const fi_comparator *cmp, char *base, size_t i, size_t j)
{
    char *a = base + i * cmp->size, *b = base + j * cmp->size, some[64];

    if (a == b)
        return;
    for (size_t left = cmp->size; left > 0;) {
        size_t n = left < sizeof some ? left : sizeof some;

        memcpy(some, a, n);
        memcpy(a, b, n);
        memcpy(b, some, n);
        a += n;
        b += n;
        left -= n;
    }
}

void fi_insertion_sort(const fi_comparator *cmp, char *base, size_t n)
{
    for (size_t i = 1; i < n; i++)
        for (size_t j = i; j > 0 && fi_is_less(cmp, base, j, j - 1); j--)
            fi_swap(cmp, base, j, j - 1);
}

/* ---- heap sort ---- */

static void sift_down(const fi_comparator *cmp, char *base, size_t n, size_t at)
{
    while (at < n / 2) {
        size_t child = 2 * at + 1;

        if (child + 1 < n && fi_is_less(cmp, base, child, child + 1))
            child++;
        if (!fi_is_less(cmp, base, at, child))
            return;
        fi_swap(cmp, base, at, child);
        at = child;
    }
}

static void heap_sort(const fi_comparator *cmp, char *base, size_t n)
{
    for (size_t i = n / 2; i-- > 0;)
        sift_down(cmp, base, n, i);
    for (size_t i = n; i-- > 1;) {
        fi_swap(cmp, base, 0, i);
        sift_down(cmp, base, i, 0);
    }
}

/* ---- quicksort ---- */

static size_t median(const fi_comparator *cmp, const char *base, size_t a, size_t b, size_t c)
{
    if (fi_is_less(cmp, base, b, a)) {
        size_t x = a;
        a = b;
        b = x;
    }
    if (!fi_is_less(cmp, base, c, b))
        return b;
    return fi_is_less(cmp, base, c, a) ? a : c;
}

static size_t choose_pivot(const fi_comparator *cmp, const char *base, size_t n)
{
    size_t step = n / 9;

    if (n < 128)
        return median(cmp, base, 0, n / 2, n - 1);
    return median(cmp, base, median(cmp, base, 0, step, 2 * step),
                  median(cmp, base, 3 * step, 4 * step, 5 * step),
                  median(cmp, base, 6 * step, 7 * step, 8 * step));
}

/* Partition around a pivot.  Returns: the index of the pivot.  No element before it is greater, no
 * element after it is less. */
static size_t partition(const fi_comparator *cmp, char *base, size_t n)
{
    size_t i = 1, j = n - 1;

    fi_swap(cmp, base, 0, choose_pivot(cmp, base, n));
    for (;;) {
        while (i <= j && fi_is_less(cmp, base, i, 0))
            i++;
        while (i <= j && fi_is_less(cmp, base, 0, j))
            j--;
        if (i >= j)
            break;
        fi_swap(cmp, base, i++, j--);
    }
    fi_swap(cmp, base, 0, j);
    return j;
}

/* The smaller part becomes a task, so there are at most log2(n) open tasks. */
FILCH_VOID_TASK(quick_sort_task, const fi_comparator *, cmp, char *, base, size_t, n, int, depth)
{
    int spawned = 0;

    for (; n > INSERTION_SORT_MAX && depth > 0; depth--) {
        size_t less = partition(cmp, base, n), rest = n - less - 1;
        char *behind = base + (less + 1) * cmp->size;
        char *small = less < rest ? base : behind;
        size_t smaller = less < rest ? less : rest;

        if (smaller > TASK_MIN) {
            FILCH_SPAWN(quick_sort_task, cmp, small, smaller, depth - 1);
            spawned++;
        } else {
            FILCH_CALL(quick_sort_task, cmp, small, smaller, depth - 1);
        }
        base = less < rest ? behind : base;
        n = less < rest ? rest : less;
    }
    if (n > INSERTION_SORT_MAX)
        heap_sort(cmp, base, n);
    else
        fi_insertion_sort(cmp, base, n);
    for (; spawned > 0; spawned--)
        FILCH_SYNC(quick_sort_task);
}

static int depth_max(size_t n)
{
    int depth = 0;

    for (; n > 0; n /= 2)
        depth += 2;
    return depth;
}

void fi_sort_no_alloc(const fi_comparator *cmp, void *base, size_t n)
{
    FILCH_RUN(quick_sort_task, cmp, base, n, depth_max(n));
}
