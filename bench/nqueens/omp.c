#include "bench.h"
#include "nqueens.h"

static long queens(board b, int rows, int n)
{
    if (rows == n)
        return 1;
    long below[NQUEENS_MAX];
    int open = 0;
    for (int column = 0; column < n; column++) {
        if (!is_safe(&b, rows, column))
            continue;
        long *result = &below[open++];
        board next = with_queen(b, rows, column);
#pragma omp task
        *result = queens(next, rows + 1, n);
    }
#pragma omp taskwait
    long found = 0;
    for (int i = 0; i < open; i++)
        found += below[i];
    return found;
}

int64_t bench_run(const bench_case *c)
{
    board empty = {{0}};
    long result = 0;
#pragma omp parallel
#pragma omp single
    result = queens(empty, 0, (int)c->size);
    return result;
}
