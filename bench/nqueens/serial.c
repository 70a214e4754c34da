#include "bench.h"
#include "nqueens.h"

static long queens(board b, int rows, int n)
{
    if (rows == n)
        return 1;
    long found = 0;
    for (int column = 0; column < n; column++)
        if (is_safe(&b, rows, column))
            found += queens(with_queen(b, rows, column), rows + 1, n);
    return found;
}

int64_t bench_run(const bench_case *c)
{
    board empty = {{0}};
    return queens(empty, 0, (int)c->size);
}
