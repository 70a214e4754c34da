#include "bench.h"
#include "sort.h"

static void merge(runs r, int *out)
{
    size_t n = runs_length(&r);
    if (n <= SORT_MERGE_LEAF) {
        sort_merge(&r, out);
        return;
    }
    runs first = sort_cut(&r, n / 2);
#pragma omp task
    merge(r, out + n / 2);
    merge(first, out);
#pragma omp taskwait
}

static void sort(int *data, int *scratch, size_t n, int into_scratch)
{
    if (n <= SORT_LEAF) {
        sort_leaf(data, scratch, n, into_scratch);
        return;
    }
#pragma omp task
    sort(data + n / 2, scratch + n / 2, n - n / 2, !into_scratch);
    sort(data, scratch, n / 2, !into_scratch);
#pragma omp taskwait
    merge(runs_of(into_scratch ? data : scratch, n), into_scratch ? scratch : data);
}

int64_t bench_run(const bench_case *c)
{
    (void)c;
#pragma omp parallel
#pragma omp single
    sort(sort_data, sort_scratch, sort_length, 0);
    return 0;
}
