/* Public handles of pooled records.
 *
 * A record is reused soon after it was freed, so a stale handle would lead to another object's
 * record, and sanitizers could not detect that.  So each record counts its generations.  A handle
 * is the address of the record, with the low bits of the generation in the bits that alignment
 * leaves free.  A stale handle is detected at its next use, unless a multiple of 64 generations has
 * passed. */
#ifndef FI_BASE_TAG_H
#define FI_BASE_TAG_H

#include "base/compiler.h"

#include <stdbool.h>
#include <stdint.h>

#define FI_TAG_MASK ((uintptr_t)(FI_CACHE_LINE - 1))

/* [any] The handle of a record in this generation. */
static inline void *fi_tag_handle(const void *record, uint32_t generation)
{
    return (void *)((uintptr_t)record | (generation & FI_TAG_MASK));
}

/* [any] The record of a handle. */
static inline void *fi_tag_record(const void *handle)
{
    return (void *)((uintptr_t)handle & ~FI_TAG_MASK);
}

/* [any] Was the handle made in this generation? */
static inline bool fi_tag_is_of(const void *handle, uint32_t generation)
{
    return (((uintptr_t)handle ^ generation) & FI_TAG_MASK) == 0;
}

#endif
