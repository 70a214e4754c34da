/* A custom allocator for all memory that Filch uses for itself.
 *
 *     #include <filch/memory.h>
 *     #include <stdlib.h>
 *
 *     static void *my_alloc(void *ctx, size_t size, size_t align)
 *     {
 *         (void)ctx;
 *         return aligned_alloc(align, (size + align - 1) / align * align);
 *     }
 *     static void my_free(void *ctx, void *ptr, size_t size, size_t align)
 *     {
 *         (void)ctx, (void)size, (void)align;
 *         free(ptr);
 *     }
 *     int main(void)
 *     {
 *         filch_allocator mine = {my_alloc, my_free, NULL};
 *         return filch_set_allocator(&mine) == 0 ? 0 : 1;
 *     }
 *
 * Stacks of fibers are mapped from the system, and do not come from the allocator.
 */
#ifndef FILCH_MEMORY_H
#define FILCH_MEMORY_H

#include <filch/version.h>

#include <stddef.h>

FILCH_BEGIN_DECLS

/* Both functions may be called by several threads at once, on small stacks, and must not call
 * Filch.  Sizes are never 0.  Alignments are powers of two. */
typedef struct filch_allocator {
    /* Return size bytes or more at a multiple of align, or NULL.  The memory need not be zeroed. */
    void *(*alloc)(void *ctx, size_t size, size_t align);
    /* Free memory of alloc.  size and align are those of its alloc call.  ptr is never NULL. */
    void (*free)(void *ctx, void *ptr, size_t size, size_t align);
    /* Passed to both. */
    void *ctx;
} filch_allocator;

/* The inline function passes the size of the struct that the program was compiled with. */
FILCH_API int filch_set_allocator_(const filch_allocator *allocator, size_t size);

/* Use this allocator from now on.  The struct is copied.  The object at ctx must stay valid while
 * the allocator is in use.
 * allocator: NULL means the built-in allocator.
 * Call from: any thread, best before all other calls.  Blocks: nothing.
 * Returns: 0.
 *     -EINVAL: alloc or free is NULL.
 *     -EBUSY: memory of the current allocator is in use.  filch_stop frees all memory of the
 *         runtime. */
static inline int filch_set_allocator(const filch_allocator *allocator)
{
    return filch_set_allocator_(allocator, sizeof *allocator);
}

/* Allocate memory from the current allocator.  It is aligned to 64 bytes and not zeroed.  The
 * allocator cannot be replaced until the memory is freed.
 * size: 0 counts as 1.
 * Call from: any thread or fiber.  Blocks: nothing, unless the allocator does.
 * Returns: the memory; NULL: there is none. */
FILCH_API void *filch_alloc(size_t size);

/* Free memory of filch_alloc.  NULL is allowed.
 * size: the same as in the call of filch_alloc.
 * Call from: any thread or fiber.  Blocks: nothing, unless the allocator does. */
FILCH_API void filch_free(void *ptr, size_t size);

FILCH_END_DECLS

#endif
