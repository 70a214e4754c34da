#include "bench.h"
#include "nqueens.h"
#include "tbb_arena.h"

#include <tbb/task_group.h>

static long queens(board b, int rows, int n)
{
    if (rows == n)
        return 1;
    long below[NQUEENS_MAX];
    int open = 0;
    tbb::task_group group;
    for (int column = 0; column < n; column++) {
        if (!is_safe(&b, rows, column))
            continue;
        long *result = &below[open++];
        board next = with_queen(b, rows, column);
        group.run([result, next, rows, n] { *result = queens(next, rows + 1, n); });
    }
    group.wait();
    long found = 0;
    for (int i = 0; i < open; i++)
        found += below[i];
    return found;
}

int64_t bench_run(const bench_case *c)
{
    return bench_arena().execute([c] { return queens(board{}, 0, static_cast<int>(c->size)); });
}
