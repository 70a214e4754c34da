/* Parallel algorithms over ranges, made of nothing but tasks.
 *
 *     #include <filch/algo.h>
 *     #include <stdio.h>
 *
 *     static double v[1000];
 *
 *     static void square(size_t lo, size_t hi, void *ctx)
 *     {
 *         (void)ctx;
 *         for (size_t i = lo; i < hi; i++)
 *             v[i] = (double)i * (double)i;
 *     }
 *     int main(void)
 *     {
 *         filch_for(0, 1000, 0, square, NULL);
 *         printf("%g\n", v[999]);
 *         return 0;
 *     }
 *
 * All of them may be called from any thread, from tasks, and from the functions that they call; they return when
 * all is done.  A range is from lo up to, but not including, hi; where hi is not above lo it is empty, and nothing
 * is called.  The grain is how many elements a function gets at the most; 0 lets Filch choose.
 *
 * Call from: any thread, and tasks.  Blocks: the thread, or parks the fiber.
 */
#ifndef FILCH_ALGO_H
#define FILCH_ALGO_H

#include <filch/version.h>

#include <stddef.h>

FILCH_BEGIN_DECLS

/* Call body for parts of the range, several at once, each element in exactly one of them.  The range is cut where
 * and when somebody has nothing to do, so parts that take longer than others do no harm.  Parts must not
 * wait for each other: all of them may be run by one worker, one after the other. */
FILCH_API void filch_for(size_t lo, size_t hi, size_t grain,
                         void (*body)(size_t lo, size_t hi, void *ctx), void *ctx);

/* A rectangle of rows and columns. */
typedef struct filch_tile {
    size_t row_lo, row_hi;
    size_t column_lo, column_hi;
} filch_tile;

/* The same for the tiles of a rectangle, of rows x columns at the most, both 0: Filch chooses. */
FILCH_API void filch_for_tiles(const filch_tile *all, size_t rows, size_t columns,
                               void (*body)(const filch_tile *tile, void *ctx), void *ctx);

#define FILCH_REDUCE_MAX 1024 /* bytes of an accumulator, which is aligned to 64 at the most */

/* Bring a range down to one value of `size` bytes.  map adds the elements from lo to hi to *acc.  combine adds
 * *other, which stands for the elements right behind those of *acc, to *acc.  *acc is neutral at first, and
 * the result at last.
 *
 * How the range is cut, and so the result down to its last bit, depends on lo, hi and grain alone, not on who was
 * there to do it.
 * Returns: 0; -EINVAL for a size of more than FILCH_REDUCE_MAX: have it point to the rest. */
FILCH_API int filch_reduce(size_t lo, size_t hi, size_t grain, void *acc, size_t size,
                           void (*map)(size_t lo, size_t hi, void *acc, void *ctx),
                           void (*combine)(void *acc, const void *other, void *ctx), void *ctx);

FILCH_END_DECLS

#endif
