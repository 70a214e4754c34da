#include "bench.h"
#include "sort.h"

#include <filch/task.h>

FILCH_VOID_TASK(merge, runs, r, int *, out)
{
    size_t n = runs_length(&r);
    if (n <= SORT_MERGE_LEAF) {
        sort_merge(&r, out);
        return;
    }
    runs first = sort_cut(&r, n / 2);
    FILCH_SPAWN(merge, r, out + n / 2);
    FILCH_CALL(merge, first, out);
    FILCH_SYNC(merge);
}

FILCH_VOID_TASK(sort, int *, data, int *, scratch, size_t, n, int, into_scratch)
{
    if (n <= SORT_LEAF) {
        sort_leaf(data, scratch, n, into_scratch);
        return;
    }
    FILCH_SPAWN(sort, data + n / 2, scratch + n / 2, n - n / 2, !into_scratch);
    FILCH_CALL(sort, data, scratch, n / 2, !into_scratch);
    FILCH_SYNC(sort);
    FILCH_CALL(merge, runs_of(into_scratch ? data : scratch, n), into_scratch ? scratch : data);
}

int64_t bench_run(const bench_case *c)
{
    (void)c;
    FILCH_RUN(sort, sort_data, sort_scratch, sort_length, 0);
    return 0;
}
