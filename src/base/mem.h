/* Memory for the library.  Users can replace the allocator, and tests can make the n-th allocation
 * fail.
 *
 * Freeing passes the size, as in filch_allocator, so that an allocator needs no headers. */
#ifndef FI_BASE_MEM_H
#define FI_BASE_MEM_H

#include "base/compiler.h"

#include <stddef.h>

/* [any] Zeroed memory, or NULL.  align is a power of two.  size is not 0. */
void *fi_mem_alloc(size_t size, size_t align);

/* [any] The same for n elements of size bytes each.  NULL if the product overflows. */
void *fi_mem_alloc_array(size_t n, size_t size, size_t align);

/* [any] Free memory of fi_mem_alloc, with the same size and alignment.  NULL is allowed. */
void fi_mem_free(void *p, size_t size, size_t align);

/* Memory in use.  The two counters are read one after the other, so they are consistent only while
 * no thread allocates. */
typedef struct fi_mem_count {
    size_t blocks;
    size_t bytes;
} fi_mem_count;

/* [any] */
fi_mem_count fi_mem_live(void);

/* The model checkers construct objects instead of zeroing bytes, with their own header. */
#ifdef FI_MEM_HEADER
#include FI_MEM_HEADER
#else
#define FI_NEW(type)                ((type *)fi_mem_alloc(sizeof(type), FI_CACHE_LINE))
#define FI_DELETE(type, p)          fi_mem_free((p), sizeof(type), FI_CACHE_LINE)
#define FI_NEW_ARRAY(type, n)       ((type *)fi_mem_alloc_array((n), sizeof(type), FI_CACHE_LINE))
#define FI_DELETE_ARRAY(type, p, n) fi_mem_free((p), (n) * sizeof(type), FI_CACHE_LINE)
#endif

#endif
