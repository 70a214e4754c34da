/* Sorting and merging below the grain, the same for all runtimes. */
#include "sort.h"

#include <string.h>

static void insertion_sort(int *data, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        int x = data[i];
        size_t k = i;
        for (; k > 0 && data[k - 1] > x; k--)
            data[k] = data[k - 1];
        data[k] = x;
    }
}

void sort_leaf(int *data, int *scratch, size_t n, int into_scratch)
{
    insertion_sort(data, n);
    if (into_scratch)
        memcpy(scratch, data, n * sizeof *data);
}

void sort_merge(const runs *r, int *out)
{
    const int *a = r->a, *b = r->b;
    const int *a_end = a + r->a_length, *b_end = b + r->b_length;
    while (a < a_end && b < b_end)
        *out++ = *b < *a ? *b++ : *a++;
    memcpy(out, a, (size_t)(a_end - a) * sizeof *a);
    out += a_end - a;
    memcpy(out, b, (size_t)(b_end - b) * sizeof *b);
}

/* Number of the first n outputs that come from a: the smallest i such that the n - i first elements
 * of b are all less than a[i]. */
static size_t share_of_a(const runs *r, size_t n)
{
    size_t low = n > r->b_length ? n - r->b_length : 0;
    size_t high = n < r->a_length ? n : r->a_length;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->b[n - middle - 1] < r->a[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

runs sort_cut(runs *r, size_t n)
{
    size_t from_a = share_of_a(r, n), from_b = n - from_a;
    runs first = {r->a, r->b, from_a, from_b};
    r->a += from_a;
    r->b += from_b;
    r->a_length -= from_a;
    r->b_length -= from_b;
    return first;
}
