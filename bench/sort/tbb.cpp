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

static void sort(int *data, int *scratch, size_t n, bool into_scratch)
{
    if (n <= SORT_LEAF) {
        sort_leaf(data, scratch, n, into_scratch);
        return;
    }
    tbb::task_group group;
    group.run([=] { sort(data + n / 2, scratch + n / 2, n - n / 2, !into_scratch); });
    sort(data, scratch, n / 2, !into_scratch);
    group.wait();
    merge(runs_of(into_scratch ? data : scratch, n), into_scratch ? scratch : data);
}

int64_t bench_run(const bench_case *)
{
    bench_arena().execute([] { sort(sort_data, sort_scratch, sort_length, false); });
    return 0;
}
