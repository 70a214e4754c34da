/* Recursive matrix multiplication: small tasks that compute. */
#include "matmul.h"
#include "bench.h"

#include <stdlib.h>
#include <string.h>

double *matmul_a, *matmul_b, *matmul_c;
size_t matmul_row;

void matmul_leaf(double *c, const double *a, const double *b)
{
    for (size_t i = 0; i < MATMUL_LEAF; i++)
        for (size_t k = 0; k < MATMUL_LEAF; k++)
            for (size_t j = 0; j < MATMUL_LEAF; j++)
                c[i * matmul_row + j] += a[i * matmul_row + k] * b[k * matmul_row + j];
}

/* Small integers, so that sums are exact in any order. */
static double *matrix(size_t n, size_t salt)
{
    double *m = malloc(n * n * sizeof *m);
    for (size_t i = 0; m && i < n * n; i++)
        m[i] = (double)((i * 31 + i / n * salt) % 17);
    return m;
}

/* The weight of a row or column in the check. */
static int64_t weight(size_t i)
{
    return (int64_t)(i * 13 % 29) + 1;
}

/* out = m * in */
static void apply(const double *m, const int64_t *in, int64_t *out)
{
    for (size_t i = 0; i < matmul_row; i++) {
        out[i] = 0;
        for (size_t j = 0; j < matmul_row; j++)
            out[i] += (int64_t)m[i * matmul_row + j] * in[j];
    }
}

/* A hash that depends on the position of each element. */
static int64_t fold(const int64_t *vector)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < matmul_row; i++)
        sum = sum * 1000003 + (uint64_t)vector[i];
    return (int64_t)(sum >> 1);
}

static void weights(int64_t *vector)
{
    for (size_t i = 0; i < matmul_row; i++)
        vector[i] = weight(i);
}

/* If c = a * b, then c * x = a * (b * x).  This checks the product without computing it again. */
static int64_t expected(void)
{
    static int64_t x[MATMUL_MAX], bx[MATMUL_MAX], abx[MATMUL_MAX];
    weights(x);
    apply(matmul_b, x, bx);
    apply(matmul_a, bx, abx);
    return fold(abx);
}

static int64_t digest(const bench_case *c)
{
    (void)c;
    static int64_t x[MATMUL_MAX], cx[MATMUL_MAX];
    weights(x);
    apply(matmul_c, x, cx);
    return fold(cx);
}

static void reset(void)
{
    memset(matmul_c, 0, matmul_row * matmul_row * sizeof *matmul_c);
}

static uint64_t spawns(size_t n)
{
    return n == MATMUL_LEAF ? 0 : 8 + 8 * spawns(n / 2);
}

static const char *prepare(bench_case *c)
{
    if ((c->size & (c->size - 1)) != 0)
        return "the size must be a power of two";
    matmul_row = (size_t)c->size;
    matmul_a = matrix(matmul_row, 3);
    matmul_b = matrix(matmul_row, 7);
    matmul_c = matrix(matmul_row, 0);
    if (!matmul_a || !matmul_b || !matmul_c)
        return "no memory for the matrices";
    c->expected = expected();
    c->spawns = spawns(matmul_row);
    return NULL;
}

static const bench_input inputs[] = {
    {NULL, "the side of the matrices, a power of two", MATMUL_LEAF, MATMUL_MAX, 256, 256},
    {0},
};

const bench_workload bench_the_workload = {
    .name = "matmul",
    .inputs = inputs,
    .prepare = prepare,
    .reset = reset,
    .digest = digest,
};
