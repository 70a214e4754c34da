/* queens: counts the ways to place N queens on a board of N x N squares, on one process or on all
 * ranks of an MPI job.  It shows a pool of items: an item is a board, and its handler pushes the
 * boards with one more queen.
 *
 *     $ ./queens 8
 *     8 queens: 92
 *     $ mpirun -n 4 ./queens 8
 *     8 queens: 92 */
#include <filch/cluster.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct board {
    uint32_t columns, left, right;
    int row;
} board;

static int place(filch_pool *pool, const void *item, size_t size, void *acc, void *ctx)
{
    const board *b = item;
    int n = *(const int *)ctx, e = 0;
    if (b->row == n)
        return ++*(uint64_t *)acc, 0;
    uint32_t free = ~(b->columns | b->left | b->right) & ((1u << n) - 1);
    for (; free && e == 0; free &= free - 1) {
        uint32_t bit = free & -free;
        board c = {b->columns | bit, (b->left | bit) << 1, (b->right | bit) >> 1, b->row + 1};
        e = filch_pool_push(pool, &c, size);
    }
    return e;
}

static void add(void *acc, const void *other, void *ctx)
{
    (void)ctx;
    *(uint64_t *)acc += *(const uint64_t *)other;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 14;
    filch_pool_type queens = {sizeof(board), place, sizeof(uint64_t), add};
    board empty = {0};
    uint64_t found = 0;
    int e = filch_cluster_start(NULL);
    if (e == 0)
        e = filch_cluster_pool(&queens, &empty, filch_cluster_rank() == 0, &found, &n);
    if (e == 0 && filch_cluster_rank() == 0)
        printf("%d queens: %llu\n", n, (unsigned long long)found);
    return filch_cluster_stop() < 0 || e != 0;
}
