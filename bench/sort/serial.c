#include "bench.h"
#include "sort.h"

static void sort(int *data, int *scratch, size_t n, int into_scratch)
{
    if (n <= SORT_LEAF) {
        sort_leaf(data, scratch, n, into_scratch);
        return;
    }
    sort(data, scratch, n / 2, !into_scratch);
    sort(data + n / 2, scratch + n / 2, n - n / 2, !into_scratch);
    runs halves = runs_of(into_scratch ? data : scratch, n);
    sort_merge(&halves, into_scratch ? scratch : data);
}

int64_t bench_run(const bench_case *c)
{
    (void)c;
    sort(sort_data, sort_scratch, sort_length, 0);
    return 0;
}
