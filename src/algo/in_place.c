/* Quicksort in place.  The pivot is the first element, so that it need not be copied.  A range whose pivots were bad
 * too often is made a heap. */
#include "algo/in_place.h"

#include <filch/task.h>
#include <string.h>

#define SHORT      12 /* elements, that are inserted one by one */
#define WORTH_TASK 1024

bool fi_is_less(const fi_order *o, const char *base, size_t i, size_t j)
{
    return o->compare(base + i * o->size, base + j * o->size, o->ctx) < 0;
}

void fi_swap(const fi_order *o, char *base, size_t i, size_t j)
{
    char *a = base + i * o->size, *b = base + j * o->size, some[64];

    if (a == b)
        return;
    for (size_t left = o->size; left > 0;) {
        size_t n = left < sizeof some ? left : sizeof some;

        memcpy(some, a, n);
        memcpy(a, b, n);
        memcpy(b, some, n);
        a += n;
        b += n;
        left -= n;
    }
}

void fi_insert_each(const fi_order *o, char *base, size_t n)
{
    for (size_t i = 1; i < n; i++)
        for (size_t j = i; j > 0 && fi_is_less(o, base, j, j - 1); j--)
            fi_swap(o, base, j, j - 1);
}

/* ---- a heap ---- */

static void sink(const fi_order *o, char *base, size_t n, size_t at)
{
    while (at < n / 2) {
        size_t child = 2 * at + 1;

        if (child + 1 < n && fi_is_less(o, base, child, child + 1))
            child++;
        if (!fi_is_less(o, base, at, child))
            return;
        fi_swap(o, base, at, child);
        at = child;
    }
}

static void sort_by_heap(const fi_order *o, char *base, size_t n)
{
    for (size_t i = n / 2; i-- > 0;)
        sink(o, base, n, i);
    for (size_t i = n; i-- > 1;) {
        fi_swap(o, base, 0, i);
        sink(o, base, i, 0);
    }
}

/* ---- quicksort ---- */

static size_t median(const fi_order *o, const char *base, size_t a, size_t b, size_t c)
{
    if (fi_is_less(o, base, b, a)) {
        size_t x = a;
        a = b;
        b = x;
    }
    if (!fi_is_less(o, base, c, b))
        return b;
    return fi_is_less(o, base, c, a) ? a : c;
}

static size_t choose_pivot(const fi_order *o, const char *base, size_t n)
{
    size_t step = n / 9;

    if (n < 128)
        return median(o, base, 0, n / 2, n - 1);
    return median(o, base, median(o, base, 0, step, 2 * step),
                  median(o, base, 3 * step, 4 * step, 5 * step),
                  median(o, base, 6 * step, 7 * step, 8 * step));
}

/* Where the pivot is in the end: nothing before it is greater, nothing behind it is less. */
static size_t part(const fi_order *o, char *base, size_t n)
{
    size_t i = 1, j = n - 1;

    fi_swap(o, base, 0, choose_pivot(o, base, n));
    for (;;) {
        while (i <= j && fi_is_less(o, base, i, 0))
            i++;
        while (i <= j && fi_is_less(o, base, 0, j))
            j--;
        if (i >= j)
            break;
        fi_swap(o, base, i++, j--);
    }
    fi_swap(o, base, 0, j);
    return j;
}

/* The smaller part is a task of its own, so there are few of them at once. */
FILCH_VOID_TASK(sort_part, const fi_order *, o, char *, base, size_t, n, int, cuts)
{
    int open = 0;

    for (; n > SHORT && cuts > 0; cuts--) {
        size_t less = part(o, base, n), rest = n - less - 1;
        char *behind = base + (less + 1) * o->size;
        char *small = less < rest ? base : behind;
        size_t smaller = less < rest ? less : rest;

        if (smaller > WORTH_TASK) {
            FILCH_SPAWN(sort_part, o, small, smaller, cuts - 1);
            open++;
        } else {
            FILCH_CALL(sort_part, o, small, smaller, cuts - 1);
        }
        base = less < rest ? behind : base;
        n = less < rest ? rest : less;
    }
    if (n > SHORT)
        sort_by_heap(o, base, n);
    else
        fi_insert_each(o, base, n);
    for (; open > 0; open--)
        FILCH_SYNC(sort_part);
}

static int cuts_for(size_t n)
{
    int cuts = 0;

    for (; n > 0; n /= 2)
        cuts += 2;
    return cuts;
}

void fi_sort_in_place(const fi_order *o, void *base, size_t n)
{
    FILCH_RUN(sort_part, o, base, n, cuts_for(n));
}
