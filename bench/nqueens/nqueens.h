/* A board with queens in its first rows. */
#ifndef BENCH_NQUEENS_H
#define BENCH_NQUEENS_H

#include <stdbool.h>
#include <stdint.h>

enum { NQUEENS_MAX = 15 };

typedef struct board {
    int8_t column[16]; /* of the queen in each row */
} board;

static inline bool is_safe(const board *b, int row, int column)
{
    for (int r = 0; r < row; r++) {
        int across = b->column[r] - column;
        if (across == 0 || across == row - r || across == r - row)
            return false;
    }
    return true;
}

static inline board with_queen(board b, int row, int column)
{
    b.column[row] = (int8_t)column;
    return b;
}

#endif
