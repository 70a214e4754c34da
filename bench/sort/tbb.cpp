#include "bench.h"
#include "sort.h"
#include "tbb_arena.h"

#include <tbb/task_group.h>

static void merge(runs r, int *out)
{
    size_t n = runs_length(&r);
    if (n <= SORT_MERGE_LEAF) {
        sort_merge(&r, out);
        return;
    }
    runs first = sort_cut(&r, n / 2);
    tbb::task_group group;
    group.run([=] { merge(r, out + n / 2); });
    merge(first, out);
    group.wait();
}

static void sort(int *data, int *room, size_t n, bool into_room)
{
    if (n <= SORT_LEAF) {
        sort_leaf(data, room, n, into_room);
        return;
    }
    tbb::task_group group;
    group.run([=] { sort(data + n / 2, room + n / 2, n - n / 2, !into_room); });
    sort(data, room, n / 2, !into_room);
    group.wait();
    merge(runs_of(into_room ? data : room, n), into_room ? room : data);
}

int64_t bench_run(const bench_case *)
{
    bench_arena().execute([] { sort(sort_data, sort_room, sort_length, false); });
    return 0;
}
