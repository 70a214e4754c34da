/* Marks memory as unusable for AddressSanitizer.  Does nothing in other builds. */
#ifndef FI_BASE_POISON_H
#define FI_BASE_POISON_H

#include "base/compiler.h"

#include <stddef.h>

#if FI_UNDER_ASAN
#include <sanitizer/asan_interface.h>
#endif

/* [any] Report accesses to this memory from now on. */
static inline void fi_poison(void *at, size_t size)
{
#ifdef ASAN_POISON_MEMORY_REGION
    ASAN_POISON_MEMORY_REGION(at, size);
#endif
    (void)at, (void)size;
}

/* [any] Allow accesses again. */
static inline void fi_unpoison(void *at, size_t size)
{
#ifdef ASAN_UNPOISON_MEMORY_REGION
    ASAN_UNPOISON_MEMORY_REGION(at, size);
#endif
    (void)at, (void)size;
}

#endif
