/* Loops over the tiles of a rectangle: a loop over their numbers, row by row. */
#include <filch/algo.h>

#include <stdbool.h>

#define TILES 32 /* in a row or a column of them, where their size is ours to choose */

typedef struct tiling {
    void (*body)(const filch_tile *tile, void *ctx);
    void *ctx;
    const filch_tile *all;
    size_t rows, columns; /* of a tile */
    size_t down, across;  /* how many tiles */
} tiling;

static size_t at_most(size_t n, size_t most)
{
    return n < most ? n : most;
}

static size_t how_many(size_t length, size_t tile)
{
    return (length - 1) / tile + 1;
}

static void run_tile(const tiling *t, size_t down, size_t across)
{
    filch_tile tile = {.row_lo = t->all->row_lo + down * t->rows,
                       .column_lo = t->all->column_lo + across * t->columns};

    tile.row_hi = tile.row_lo + at_most(t->all->row_hi - tile.row_lo, t->rows);
    tile.column_hi = tile.column_lo + at_most(t->all->column_hi - tile.column_lo, t->columns);
    t->body(&tile, t->ctx);
}

static void run_tiles(size_t lo, size_t hi, void *ctx)
{
    const tiling *t = ctx;

    for (size_t i = lo; i < hi; i++)
        run_tile(t, i / t->across, i % t->across);
}

/* ---- more tiles than a size_t can count: a loop in a loop ---- */

typedef struct tile_row {
    const tiling *tiling;
    size_t down;
} tile_row;

static void run_tiles_of_row(size_t lo, size_t hi, void *ctx)
{
    const tile_row *row = ctx;

    for (size_t i = lo; i < hi; i++)
        run_tile(row->tiling, row->down, i);
}

static void run_tile_rows(size_t lo, size_t hi, void *ctx)
{
    const tiling *t = ctx;

    for (size_t i = lo; i < hi; i++) {
        tile_row row = {t, i};
        filch_for(0, t->across, 1, run_tiles_of_row, &row);
    }
}

static bool can_count(const tiling *t, size_t *n)
{
    *n = t->down * t->across;
    return *n / t->across == t->down;
}

void filch_for_tiles(const filch_tile *all, size_t rows, size_t columns,
                     void (*body)(const filch_tile *tile, void *ctx), void *ctx)
{
    tiling t = {.body = body, .ctx = ctx, .all = all, .rows = rows, .columns = columns};
    size_t height, width, n;

    if (all->row_hi <= all->row_lo || all->column_hi <= all->column_lo)
        return;
    height = all->row_hi - all->row_lo;
    width = all->column_hi - all->column_lo;
    if (rows == 0)
        t.rows = how_many(height, TILES);
    if (columns == 0)
        t.columns = how_many(width, TILES);
    t.down = how_many(height, t.rows);
    t.across = how_many(width, t.columns);
    if (can_count(&t, &n))
        filch_for(0, n, 1, run_tiles, &t);
    else
        filch_for(0, t.down, 1, run_tile_rows, &t);
}
