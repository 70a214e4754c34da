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

/* As filch_for, for a body that may fail or be content: the first result that is not 0 ends the loop.  Parts that
 * have not begun by then are dropped.
 * Returns: 0, or that result; any one of several that come at once. */
FILCH_API int filch_for_fallible(size_t lo, size_t hi, size_t grain,
                                 int (*body)(size_t lo, size_t hi, void *ctx), void *ctx);

/* filch_invoke(f, g, ...) calls functions of type void (void), and filch_invoke_with(ctx, f, g, ...) such of type
 * void (void *), which get ctx; several at once, one or any number of them.  They must not wait for each other either. */
FILCH_API void filch_invoke_(void (*const *functions)(void), size_t n);
FILCH_API void filch_invoke_with_(void *ctx, void (*const *functions)(void *ctx), size_t n);

#ifdef __cplusplus
extern "C++" {
template <typename... F> inline void filch_invoke(F... functions)
{
    void (*const all[])(void) = {functions...};
    filch_invoke_(all, sizeof...(functions));
}
template <typename... F> inline void filch_invoke_with(void *ctx, F... functions)
{
    void (*const all[])(void *) = {functions...};
    filch_invoke_with_(ctx, all, sizeof...(functions));
}
}
#else
#define FILCH_FUNCTIONS_(...)     ((void (*const[])(void)){__VA_ARGS__})
#define FILCH_CTX_FUNCTIONS_(...) ((void (*const[])(void *)){__VA_ARGS__})
#define filch_invoke(...)                                                                          \
    filch_invoke_(FILCH_FUNCTIONS_(__VA_ARGS__),                                                   \
                  sizeof FILCH_FUNCTIONS_(__VA_ARGS__) / sizeof(void (*)(void)))
#define filch_invoke_with(ctx, ...)                                                                \
    filch_invoke_with_((ctx), FILCH_CTX_FUNCTIONS_(__VA_ARGS__),                                   \
                       sizeof FILCH_CTX_FUNCTIONS_(__VA_ARGS__) / sizeof(void (*)(void *)))
#endif

typedef enum filch_stage_kind {
    FILCH_STAGE_SERIAL,   /* one item at a time, in the order in which they were made */
    FILCH_STAGE_PARALLEL, /* several at once, in any order */
} filch_stage_kind;

typedef struct filch_stage {
    filch_stage_kind kind;
    void *(*run)(void *item, void *ctx);
    void *ctx;
} filch_stage;

/* Send items through stages.  The first stage makes them: it is called with NULL, again and again, one call at a time, until
 * it returns NULL.  Each other stage gets what the one before returned for the item, and returns what the next
 * gets; NULL ends the item there.  There are never more than in_flight items at once; 0: Filch chooses.
 *
 * A stage may wait for anything, and only its item waits, with those that must come after it.  To end early, have the
 * first stage return NULL: what has been made still goes to the end.
 * Returns: 0; -EINVAL for no stage, or one without a function; -ENOMEM: nothing was run. */
FILCH_API int filch_pipeline(const filch_stage *stages, size_t n, size_t in_flight);

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

/* For each element of a range, the value of all up to it, or of all before it.  map and combine are those of a
 * reduction.  write is called for a part of the range with *acc, the value of all elements before lo, which it may change
 * as it goes through the part; what it makes of that, and where it puts it, is its own affair.  *acc is neutral at first,
 * and at last the value of the whole range.
 *
 * Each element is read twice, the second time soon after the first.  As in a reduction, nothing depends on who was there
 * to do it, down to the last bit.
 * Returns: as filch_reduce. */
FILCH_API int filch_scan(size_t lo, size_t hi, size_t grain, void *acc, size_t size,
                         void (*map)(size_t lo, size_t hi, void *acc, void *ctx),
                         void (*combine)(void *acc, const void *other, void *ctx),
                         void (*write)(size_t lo, size_t hi, void *acc, void *ctx), void *ctx);

/* Sort n elements of `size` bytes each.  compare says how a stands to b: less than 0 before it, 0 equal, more than 0
 * behind it.  It is called by several workers at once, also with addresses of copies, which are aligned as the
 * elements are, to 64 at the most.  Where it contradicts itself, the elements end in some order.
 *
 * Elements that are in order already, or lie in a few stretches up or down, take one comparison each and a few moves.
 * Memory for as many elements, and some more, is taken from the allocator; where there is none, sorting takes longer.
 * filch_sort_stable keeps the order of equal elements, also then.
 * Returns: 0; -EINVAL for a size of 0, more bytes than an object can have, no elements where there should be some,
 * or no function. */
FILCH_API int filch_sort(void *base, size_t n, size_t size,
                         int (*compare)(const void *a, const void *b, void *ctx), void *ctx);
FILCH_API int filch_sort_stable(void *base, size_t n, size_t size,
                                int (*compare)(const void *a, const void *b, void *ctx), void *ctx);

/* To compare numbers, in ascending order.  Sorting knows these functions, and is several times faster than with another
 * one that says the same.  -0.0 comes before 0.0, and a NaN before or behind all numbers, according to its sign. */
FILCH_API int filch_compare_int(const void *a, const void *b, void *ctx);
FILCH_API int filch_compare_long(const void *a, const void *b, void *ctx);
FILCH_API int filch_compare_int32(const void *a, const void *b, void *ctx);
FILCH_API int filch_compare_uint32(const void *a, const void *b, void *ctx);
FILCH_API int filch_compare_int64(const void *a, const void *b, void *ctx);
FILCH_API int filch_compare_uint64(const void *a, const void *b, void *ctx);
FILCH_API int filch_compare_float(const void *a, const void *b, void *ctx);
FILCH_API int filch_compare_double(const void *a, const void *b, void *ctx);
/* To compare elements that are of type char *, as strcmp does. */
FILCH_API int filch_compare_string(const void *a, const void *b, void *ctx);

/* Merge two sorted ranges into out, which has room for both and overlaps neither.  Of equal elements, those of a come
 * first.
 * Returns: as filch_sort. */
FILCH_API int filch_merge(const void *a, size_t na, const void *b, size_t nb, void *out,
                          size_t size, int (*compare)(const void *a, const void *b, void *ctx),
                          void *ctx);

FILCH_END_DECLS

#endif
