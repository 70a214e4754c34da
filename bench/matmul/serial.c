#include "bench.h"
#include "matmul.h"

static void multiply(double *c, double *a, double *b, size_t n)
{
    if (n == MATMUL_LEAF) {
        matmul_leaf(c, a, b);
        return;
    }
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < 2; i++)
            for (size_t j = 0; j < 2; j++)
                multiply(quarter(c, n, i, j), quarter(a, n, i, k), quarter(b, n, k, j), n / 2);
}

int64_t bench_run(const bench_case *c)
{
    (void)c;
    multiply(matmul_c, matmul_a, matmul_b, matmul_row);
    return 0;
}
