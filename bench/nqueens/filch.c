#include "bench.h"
#include "nqueens.h"

#include <filch/task.h>

FILCH_TASK(long, queens, board, b, int, rows, int, n)
{
    if (rows == n)
        return 1;
    int open = 0;
    for (int column = 0; column < n; column++) {
        if (!is_safe(&b, rows, column))
            continue;
        FILCH_SPAWN(queens, with_queen(b, rows, column), rows + 1, n);
        open++;
    }
    long found = 0;
    for (; open > 0; open--)
        found += FILCH_SYNC(queens);
    return found;
}

int64_t bench_run(const bench_case *c)
{
    board empty = {{0}};
    return FILCH_RUN(queens, empty, 0, (int)c->size);
}
