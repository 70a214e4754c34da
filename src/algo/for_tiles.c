/* Parallel loops over the tiles of a rectangle: a loop over the tile numbers, row by row. */
#include "algo/check.h"
#include "base/message.h"

#include <filch/algo.h>

#include <stdbool.h>

#define TILES 32 /* in each direction, where the caller gives no tile size */

typedef struct tiling {
    void (*body)(const filch_tile *tile, void *ctx);
    void *ctx;
    const filch_tile *all;
    size_t rows, columns; /* of a tile */
    size_t tiles_down, tiles_across;
} tiling;

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t div_round_up(size_t n, size_t divisor)
{
    return (n - 1) / divisor + 1;
}

static void run_tile(const tiling *t, size_t row, size_t column)
{
    filch_tile tile = {.row_lo = t->all->row_lo + row * t->rows,
                       .column_lo = t->all->column_lo + column * t->columns};

    tile.row_hi = tile.row_lo + min_size(t->all->row_hi - tile.row_lo, t->rows);
    tile.column_hi = tile.column_lo + min_size(t->all->column_hi - tile.column_lo, t->columns);
    t->body(&tile, t->ctx);
}

static void run_tiles(size_t lo, size_t hi, void *ctx)
{
    const tiling *t = ctx;

    for (size_t i = lo; i < hi; i++)
        run_tile(t, i / t->tiles_across, i % t->tiles_across);
}

/* ---- more tiles than a size_t can count: nested loops ---- */

typedef struct tile_row {
    const tiling *tiling;
    size_t index;
} tile_row;

static void run_tiles_of_row(size_t lo, size_t hi, void *ctx)
{
    const tile_row *row = ctx;

    for (size_t i = lo; i < hi; i++)
        run_tile(row->tiling, row->index, i);
}

static void run_tile_rows(size_t lo, size_t hi, void *ctx)
{
    const tiling *t = ctx;

    for (size_t i = lo; i < hi; i++) {
        tile_row row = {t, i};
        filch_for(0, t->tiles_across, 1, run_tiles_of_row, &row);
    }
}

static bool can_count(const tiling *t, size_t *n)
{
    *n = t->tiles_down * t->tiles_across;
    return *n / t->tiles_across == t->tiles_down;
}

void filch_for_tiles(const filch_tile *all, size_t rows, size_t columns,
                     void (*body)(const filch_tile *tile, void *ctx), void *ctx)
{
    tiling t = {.body = body, .ctx = ctx, .all = all, .rows = rows, .columns = columns};
    size_t height, width, n;

    if (!all)
        fi_message_null("filch_for_tiles", "all", "the rectangle");
    if (!all || fi_check_function("filch_for_tiles", "body", body) < 0)
        return;
    if (all->row_hi <= all->row_lo || all->column_hi <= all->column_lo)
        return;
    height = all->row_hi - all->row_lo;
    width = all->column_hi - all->column_lo;
    if (rows == 0)
        t.rows = div_round_up(height, TILES);
    if (columns == 0)
        t.columns = div_round_up(width, TILES);
    t.tiles_down = div_round_up(height, t.rows);
    t.tiles_across = div_round_up(width, t.columns);
    if (can_count(&t, &n))
        filch_for(0, n, 1, run_tiles, &t);
    else
        filch_for(0, t.tiles_down, 1, run_tile_rows, &t);
}
