/* c += a * b for square matrices, split into quarters down to MATMUL_LEAF x MATMUL_LEAF blocks.
 *
 *     c00 c01     a00 a01   b00 b01       first  cij += ai0 * b0j, all four in parallel,
 *     c10 c11  +=  a10 a11 * b10 b11       then   cij += ai1 * b1j
 */
#ifndef BENCH_MATMUL_H
#define BENCH_MATMUL_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MATMUL_LEAF = 16, MATMUL_MAX = 4096 };

/* The matrices are stored in row-major order.  A block keeps the row stride of its matrix. */
extern double *matmul_a, *matmul_b, *matmul_c;
extern size_t matmul_row;

/* The quarter of a matrix of side n, in the given half of its rows and of its columns. */
static inline double *quarter(double *m, size_t n, size_t row, size_t column)
{
    return m + (row * matmul_row + column) * (n / 2);
}

/* c += a * b for one block. */
void matmul_leaf(double *c, const double *a, const double *b);

#ifdef __cplusplus
}
#endif

#endif
