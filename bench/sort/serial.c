#include "bench.h"
#include "sort.h"

static void sort(int *data, int *room, size_t n, int into_room)
{
    if (n <= SORT_LEAF) {
        sort_leaf(data, room, n, into_room);
        return;
    }
    sort(data, room, n / 2, !into_room);
    sort(data + n / 2, room + n / 2, n - n / 2, !into_room);
    runs halves = runs_of(into_room ? data : room, n);
    sort_merge(&halves, into_room ? room : data);
}

int64_t bench_run(const bench_case *c)
{
    (void)c;
    sort(sort_data, sort_room, sort_length, 0);
    return 0;
}
