/* An allocator that grants one in n requests. */
#ifndef TESTS_UNIT_ALGO_SCARCE_MEMORY_H
#define TESTS_UNIT_ALGO_SCARCE_MEMORY_H

#include "check.h"

#include <filch/memory.h>

#include <stdatomic.h>

static atomic_ulong scarce_one_of = 1, scarce_requests;

static inline void *scarce_alloc(void *ctx, size_t size, size_t align)
{
    (void)ctx;
    if (atomic_fetch_add(&scarce_requests, 1) % atomic_load(&scarce_one_of) != 0)
        return NULL;
    return aligned_alloc(align, (size + align - 1) / align * align);
}

static inline void scarce_free(void *ctx, void *ptr, size_t size, size_t align)
{
    (void)ctx, (void)size, (void)align;
    free(ptr);
}

/* All requests are granted until scarce_begin. */
static inline void scarce_install(void)
{
    CHECK_INT(filch_set_allocator(&(filch_allocator){scarce_alloc, scarce_free, NULL}), 0);
}

/* first: 0 grants the first request, 1 refuses it. */
static inline void scarce_begin(unsigned long one_of, unsigned long first)
{
    atomic_store(&scarce_requests, first);
    atomic_store(&scarce_one_of, one_of);
}

static inline void scarce_end(void)
{
    atomic_store(&scarce_one_of, 1);
}

#endif
