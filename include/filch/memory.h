/* Bring your own allocator: all memory that Filch keeps for itself comes through it.
 *
 *     #include <filch/memory.h>
 *     #include <stdlib.h>
 *
 *     static void *get(void *ctx, size_t size, size_t align)
 *     {
 *         (void)ctx;
 *         return aligned_alloc(align, (size + align - 1) / align * align);
 *     }
 *     static void put(void *ctx, void *ptr, size_t size, size_t align)
 *     {
 *         (void)ctx, (void)size, (void)align;
 *         free(ptr);
 *     }
 *     int main(void)
 *     {
 *         filch_allocator mine = {get, put, NULL};
 *         return filch_set_allocator(&mine) == 0 ? 0 : 1;
 *     }
 *
 * The stacks of fibers are mapped from the system and are no part of this.
 */
#ifndef FILCH_MEMORY_H
#define FILCH_MEMORY_H

#include <filch/version.h>

#include <stddef.h>

FILCH_BEGIN_DECLS

/* Both functions may be called by several threads at once, on small stacks, and must not call
 * Filch.  Sizes are never 0; alignments are powers of two. */
typedef struct filch_allocator {
    /* At least size bytes at a multiple of align, or NULL.  Need not be zeroed: Filch does that. */
    void *(*alloc)(void *ctx, size_t size, size_t align);
    /* Takes back what alloc gave, with the size and align that were asked for.  Never NULL. */
    void (*free)(void *ctx, void *ptr, size_t size, size_t align);
    /* Handed to both as it is. */
    void *ctx;
} filch_allocator;

/* Take memory from this allocator from now on; NULL goes back to the one built in.  The struct is
 * copied; what ctx points to must last for as long as the allocator is in use.
 * Call from: any thread, best before the first other call.
 * Blocks: nothing.
 * Returns: 0; -EINVAL when a function is missing; -EBUSY while memory of the present allocator is
 * still in use, as it is while the runtime runs (filch_stop gives all of it back). */
FILCH_API int filch_set_allocator(const filch_allocator *allocator);

/* Memory from the allocator in force, aligned to 64 bytes, and not zeroed.  What is not yet freed keeps the
 * allocator from being replaced.
 * Call from: any thread or fiber.  Blocks: what the allocator blocks.
 * Returns: NULL when there is none.  A size of 0 is one byte. */
FILCH_API void *filch_alloc(size_t size);

/* Give back what filch_alloc gave, with the same size.  NULL is allowed. */
FILCH_API void filch_free(void *ptr, size_t size);

FILCH_END_DECLS

#endif
