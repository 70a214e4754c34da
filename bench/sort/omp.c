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

static void sort(int *data, int *room, size_t n, int into_room)
{
    if (n <= SORT_LEAF) {
        sort_leaf(data, room, n, into_room);
        return;
    }
#pragma omp task
    sort(data + n / 2, room + n / 2, n - n / 2, !into_room);
    sort(data, room, n / 2, !into_room);
#pragma omp taskwait
    merge(runs_of(into_room ? data : room, n), into_room ? room : data);
}

int64_t bench_run(const bench_case *c)
{
    (void)c;
#pragma omp parallel
#pragma omp single
    sort(sort_data, sort_room, sort_length, 0);
    return 0;
}
