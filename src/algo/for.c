/* Loops that are cut where and when somebody is hungry. */
#include <filch/algo.h>
#include <filch/task.h>

/* Of a range whose grain is ours to choose.  After each piece we look who is hungry. */
#define PIECES 1024

typedef struct loop {
    void (*body)(size_t lo, size_t hi, void *ctx);
    void *ctx;
    size_t grain;
} loop;

/* As long as nobody is hungry this is a plain loop.  Who comes gets half of what is left. */
FILCH_VOID_TASK(run_range, const loop *, l, size_t, lo, size_t, hi)
{
    int open = 0;

    while (hi - lo > l->grain) {
        if (FILCH_HUNGRY()) {
            size_t middle = lo + (hi - lo) / 2;
            FILCH_SPAWN(run_range, l, middle, hi);
            hi = middle;
            open++;
        } else {
            l->body(lo, lo + l->grain, l->ctx);
            lo += l->grain;
        }
    }
    l->body(lo, hi, l->ctx);
    for (; open > 0; open--)
        FILCH_SYNC(run_range);
}

static size_t choose_grain(size_t n, size_t pieces)
{
    return n / pieces + 1;
}

void filch_for(size_t lo, size_t hi, size_t grain, void (*body)(size_t lo, size_t hi, void *ctx),
               void *ctx)
{
    loop l = {body, ctx, grain};

    if (hi <= lo)
        return;
    if (grain == 0)
        l.grain = choose_grain(hi - lo, PIECES);
    FILCH_RUN(run_range, &l, lo, hi);
}

/* ---- tiles ---- */

typedef struct tiling {
    void (*body)(const filch_tile *tile, void *ctx);
    void *ctx;
    const filch_tile *all;
    size_t rows, columns; /* of a tile */
    size_t across;        /* tiles in a row of them */
} tiling;

static size_t at_most(size_t n, size_t most)
{
    return n < most ? n : most;
}

static void run_tiles(size_t lo, size_t hi, void *ctx)
{
    const tiling *t = ctx;

    for (size_t i = lo; i < hi; i++) {
        size_t row = i / t->across * t->rows, column = i % t->across * t->columns;
        filch_tile tile = {.row_lo = t->all->row_lo + row, .column_lo = t->all->column_lo + column};
        tile.row_hi = tile.row_lo + at_most(t->all->row_hi - tile.row_lo, t->rows);
        tile.column_hi = tile.column_lo + at_most(t->all->column_hi - tile.column_lo, t->columns);
        t->body(&tile, t->ctx);
    }
}

void filch_for_tiles(const filch_tile *all, size_t rows, size_t columns,
                     void (*body)(const filch_tile *tile, void *ctx), void *ctx)
{
    tiling t = {body, ctx, all, rows, columns, 0};
    size_t height, width;

    if (all->row_hi <= all->row_lo || all->column_hi <= all->column_lo)
        return;
    height = all->row_hi - all->row_lo;
    width = all->column_hi - all->column_lo;
    if (rows == 0)
        t.rows = choose_grain(height, 32);
    if (columns == 0)
        t.columns = choose_grain(width, 32);
    t.across = (width - 1) / t.columns + 1;
    filch_for(0, ((height - 1) / t.rows + 1) * t.across, 1, run_tiles, &t);
}
