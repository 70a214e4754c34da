/* Parallel algorithms over ranges.
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
 * A range goes from lo up to, but not including, hi.  If hi is not larger than lo, the range is
 * empty and no function is called.  The grain is the maximum number of elements per call; 0 lets
 * Filch choose.  All calls return when the work is done.
 *
 * A wrong argument, such as a function that is NULL, is named by a message.  Then the call does
 * nothing, and returns -EINVAL if it returns an int.
 */
#ifndef FILCH_ALGO_H
#define FILCH_ALGO_H

#include <filch/version.h>

#include <stddef.h>

FILCH_BEGIN_DECLS

/* In a serial build this header defines the functions. */
#ifdef FILCH_SERIAL
#pragma push_macro("FILCH_API")
#undef FILCH_API
#define FILCH_API static inline __attribute__((unused))
#endif

/* Call body for parts of the range, in parallel.  Each element is in exactly one part.  The range
 * is split while there are idle workers, so parts may take different times.  Parts must not wait
 * for each other, because one worker may run all of them in turn.
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread. */
FILCH_API void filch_for(size_t lo, size_t hi, size_t grain,
                         void (*body)(size_t lo, size_t hi, void *ctx), void *ctx);

/* A rectangle of rows and columns. */
typedef struct filch_tile {
    size_t row_lo, row_hi;
    size_t column_lo, column_hi;
} filch_tile;

/* Call body for tiles of a rectangle, in parallel, as filch_for does for a range.
 * rows, columns: the maximum size of a tile; both 0 let Filch choose.
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread. */
FILCH_API void filch_for_tiles(const filch_tile *all, size_t rows, size_t columns,
                               void (*body)(const filch_tile *tile, void *ctx), void *ctx);

/* Call body for parts of the range, in parallel, until a call returns a value that is not 0.  Parts
 * that have not started by then are dropped.
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread.
 * Returns: 0; the first other result, or one of several that came at the same time.
 *     -EINVAL: body is NULL. */
FILCH_API int filch_for_fallible(size_t lo, size_t hi, size_t grain,
                                 int (*body)(size_t lo, size_t hi, void *ctx), void *ctx);

/* filch_invoke(f, g, ...) calls functions of type void (void) in parallel, and
 * filch_invoke_with(ctx, f, g, ...) calls functions of type void (void *) with ctx.  Both take
 * one or more functions, and return when all have returned.  The functions must not wait for each
 * other.
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread. */
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
    FILCH_STAGE_SERIAL,   /* one item at a time, in the order of creation */
    FILCH_STAGE_PARALLEL, /* several items at a time, in any order */
} filch_stage_kind;

typedef struct filch_stage {
    filch_stage_kind kind;
    void *(*run)(void *item, void *ctx);
    void *ctx;
} filch_stage;

/* Pass items through n stages.  The first stage creates the items: run(NULL, ctx) is called again
 * and again, one call at a time, until it returns NULL.  Each other stage gets the result of the
 * stage before, and its result goes to the next stage.  NULL drops the item.  A stage may wait;
 * other items go on, except those that must come after it.
 * in_flight: the maximum number of items at a time; 0 lets Filch choose.
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread.
 * Returns: 0: all items have reached their end.
 *     -EINVAL: n is 0, or a stage has no function or a wrong kind.
 *     -ENOMEM: there is no memory, and no stage was run. */
FILCH_API int filch_pipeline(const filch_stage *stages, size_t n, size_t in_flight);

/* A stage that may fail. */
typedef struct filch_stage_fallible {
    filch_stage_kind kind;
    /* Replace *item, or set it to NULL to end the item.  A result that is not 0 is an error. */
    int (*run)(void **item, void *ctx);
    /* NULL, or a function that frees an item that the stage has not finished. */
    void (*drop)(void *item, void *ctx);
    void *ctx;
} filch_stage_fallible;

/* Pass items through n stages, as filch_pipeline does, until a stage fails.  The first stage gets
 * NULL in *item, and ends the input by leaving it.  After an error no stage is called any more.
 * When all stages have returned, each item that is left is dropped once, by the drop function of
 * the stage that it waits for, or that has failed with it.  A stage that has freed its item before
 * it fails sets *item to NULL.
 * Cancelling the calling fiber does not end the call by itself.  The cancellable waits of its
 * stages then return -ECANCELED, which a stage can return.
 * in_flight: the maximum number of items at a time; 0 lets Filch choose.
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread.
 * Returns: 0: all items have reached their end; the first error of a stage, or one of several that
 *     came at the same time.
 *     -EINVAL: n is 0, or a stage has no function or a wrong kind.
 *     -ENOMEM: there is no memory, and no stage was run. */
FILCH_API int filch_pipeline_fallible(const filch_stage_fallible *stages, size_t n,
                                      size_t in_flight);

#define FILCH_REDUCE_MAX 1024 /* bytes of an accumulator, which is aligned to 64 bytes or less */

/* Reduce a range to one value, and append that to *result.  Each part of the range starts with an
 * accumulator that is a copy of *identity.  map adds the elements from lo to hi to *acc.
 * combine(acc, other) appends other, the value of the range directly after that of acc, to acc.
 * Its last call appends the value of the whole range to *result.  How the range is split depends on
 * lo, hi and grain alone.  So the result is the same, to the last bit, for any number of workers.
 * result: is not changed if the range is empty.
 * identity: the value of an empty range.
 * size: bytes of a value, at most FILCH_REDUCE_MAX.
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread.
 * Returns: 0.
 *     -EINVAL: size is larger than FILCH_REDUCE_MAX, or a pointer other than ctx is NULL. */
FILCH_API int filch_reduce(size_t lo, size_t hi, size_t grain, void *result, const void *identity,
                           size_t size, void (*map)(size_t lo, size_t hi, void *acc, void *ctx),
                           void (*combine)(void *acc, const void *other, void *ctx), void *ctx);

/* Reduce a range to one value, as filch_reduce does, until a call of map returns a value that is
 * not 0.  Parts that have not started by then are dropped, and *result is not changed.
 * Cancelling the calling fiber does not end the call by itself.  map can ask
 * filch_fiber_is_cancelled, and its cancellable waits return -ECANCELED.
 * drop: NULL, or a function that frees what *acc owns.  After an error it is called once for each
 *     accumulator that map was called with and that was not appended to another one, also for that
 *     of the failed call.
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread.
 * Returns: 0; the first other result of map, or one of several that came at the same time.
 *     -EINVAL: size is larger than FILCH_REDUCE_MAX, or a pointer other than drop and ctx is
 *         NULL. */
FILCH_API int filch_reduce_fallible(size_t lo, size_t hi, size_t grain, void *result,
                                    const void *identity, size_t size,
                                    int (*map)(size_t lo, size_t hi, void *acc, void *ctx),
                                    void (*combine)(void *acc, const void *other, void *ctx),
                                    void (*drop)(void *acc, void *ctx), void *ctx);

/* Compute prefix values (a scan) of a range.  map and combine are those of filch_reduce.  write is
 * called once for each part of the range with *acc, the value of *result and of all elements before
 * lo.  It stores the value before or up to each element, and may change *acc as it goes.  Each
 * element is read twice.  The results are the same, to the last bit, for any number of workers.
 * result: holds the value before the first element before the call, and that with the value of the
 *     whole range appended after it.
 * identity, size: as in filch_reduce.
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread.
 * Returns: 0.
 *     -EINVAL: size is larger than FILCH_REDUCE_MAX, or a pointer other than ctx is NULL. */
FILCH_API int filch_scan(size_t lo, size_t hi, size_t grain, void *result, const void *identity,
                         size_t size, void (*map)(size_t lo, size_t hi, void *acc, void *ctx),
                         void (*combine)(void *acc, const void *other, void *ctx),
                         void (*write)(size_t lo, size_t hi, void *acc, void *ctx), void *ctx);

/* Sort n elements of `size` bytes each.  filch_sort_stable keeps the order of equal elements.
 * Sorted runs in the input are used.  Without memory for a copy of the elements, sorting takes
 * longer.
 * compare: returns less than 0, 0 or more than 0 if a comes before, is equal to, or comes after
 *     b.  It is called by several workers at once, also with addresses of copies, which are
 *     aligned as the elements are, up to 64 bytes.  If it contradicts itself, the order is
 *     unspecified.
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread.
 * Returns: 0.
 *     -EINVAL: size is 0, n * size is larger than an object can be, base is NULL though n is not
 *         0, or compare is NULL. */
FILCH_API int filch_sort(void *base, size_t n, size_t size,
                         int (*compare)(const void *a, const void *b, void *ctx), void *ctx);
FILCH_API int filch_sort_stable(void *base, size_t n, size_t size,
                                int (*compare)(const void *a, const void *b, void *ctx), void *ctx);

/* Compare two numbers, for an ascending sort.  filch_sort recognises these functions and sorts by
 * radix, several times faster than with an equal function of the caller.  -0.0 comes before 0.0.
 * A NaN comes before or after all numbers, depending on its sign.
 * Call from: any thread or fiber.  Blocks: nothing.
 * Returns: less than 0, 0 or more than 0. */
FILCH_API int filch_compare_int(const void *a, const void *b, void *ctx);
FILCH_API int filch_compare_long(const void *a, const void *b, void *ctx);
FILCH_API int filch_compare_int32(const void *a, const void *b, void *ctx);
FILCH_API int filch_compare_uint32(const void *a, const void *b, void *ctx);
FILCH_API int filch_compare_int64(const void *a, const void *b, void *ctx);
FILCH_API int filch_compare_uint64(const void *a, const void *b, void *ctx);
FILCH_API int filch_compare_float(const void *a, const void *b, void *ctx);
FILCH_API int filch_compare_double(const void *a, const void *b, void *ctx);

/* Compare two elements of type char *, as strcmp(3) does.
 * Call from: any thread or fiber.  Blocks: nothing.
 * Returns: less than 0, 0 or more than 0. */
FILCH_API int filch_compare_string(const void *a, const void *b, void *ctx);

/* Merge two sorted ranges into out.  Of equal elements, those of a come first.
 * out: capacity for na + nb elements.  It must not overlap a or b.
 * compare: as in filch_sort.
 * Call from: any thread, fiber, task or job.  Blocks: the fiber or the thread.
 * Returns: 0.
 *     -EINVAL: size is 0, there are more bytes than an object can have, a pointer to elements is
 *         NULL, or compare is NULL. */
FILCH_API int filch_merge(const void *a, size_t na, const void *b, size_t nb, void *out,
                          size_t size, int (*compare)(const void *a, const void *b, void *ctx),
                          void *ctx);

#ifdef FILCH_SERIAL
#include <filch/serial/algo.h>
#pragma pop_macro("FILCH_API")
#endif

FILCH_END_DECLS

#endif
