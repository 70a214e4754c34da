/* The current allocator, its use count, and the default allocator.
 *
 * filch_set_allocator may replace the allocator only while none of its blocks is in use, even if
 * another thread is about to allocate.  So every live block counts as a user of the allocator. */
#define _GNU_SOURCE
#include "base/mem.h"

#include "base/at_fork.h"
#include "base/atomic.h"
#include "base/fatal.h"
#include "base/message.h"
#include "base/sized.h"
#include "base/use_count.h"

#include <errno.h>
#include <filch/memory.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* From this size on, calloc gives fresh zeroed pages.  Aligning inside a larger block keeps them
 * uncommitted, where posix_memalign and memset would touch every page. */
#define LARGE ((size_t)64 * 1024)

static fi_use_count blocks; /* of the allocator; entered once per live block */
static FI_ATOMIC(size_t) live_bytes;
static filch_allocator allocator; /* protected by `blocks`; alloc is NULL: the default allocator */
static fi_lock replacing;         /* held during a fork, so that `blocks` is open in the child */

__attribute__((constructor)) static void register_at_fork(void)
{
    fi_at_fork(FI_FORK_MEMORY, &replacing, NULL);
}

static bool is_power_of_two(size_t n)
{
    return n != 0 && (n & (n - 1)) == 0;
}

static void check_request(size_t size, size_t align)
{
    if (size == 0)
        fi_fatal("fi_mem_alloc: the size is 0");
    if (!is_power_of_two(align))
        fi_fatal("fi_mem_alloc: the alignment is not a power of two (%zu)", align);
}

/* [any] Align a large block inside a larger one.  The word before it points to the start of that.
 */
static void *alloc_large(size_t size, size_t align, bool zeroed)
{
    const size_t word = sizeof(void *);
    size_t total;

    if (__builtin_add_overflow(size, align, &total) || total > PTRDIFF_MAX - word)
        return NULL;
    char *raw = zeroed ? calloc(1, total + word) : malloc(total + word);
    if (raw == NULL)
        return NULL;
    char *p = raw + word + (-((uintptr_t)raw + word) & (align - 1));
    memcpy(p - word, &raw, word);
    return p;
}

static void free_large(char *p)
{
    const size_t word = sizeof(void *);
    void *raw;

    memcpy(&raw, p - word, word);
    free(raw);
}

static void *alloc_small(size_t size, size_t align, bool zeroed)
{
    void *p = NULL;

    if (align <= alignof(max_align_t))
        return zeroed ? calloc(1, size) : malloc(size);
    if (posix_memalign(&p, align, size) != 0)
        return NULL;
    return zeroed ? memset(p, 0, size) : p;
}

static bool is_large(size_t size, size_t align)
{
    return size >= LARGE && align > alignof(max_align_t);
}

/* [any] The default allocator. */
static void *default_alloc(size_t size, size_t align, bool zeroed)
{
    return is_large(size, align) ? alloc_large(size, align, zeroed)
                                 : alloc_small(size, align, zeroed);
}

static void default_free(void *p, size_t size, size_t align)
{
    if (is_large(size, align))
        free_large(p);
    else
        free(p);
}

/* [any] The user's allocator. */
static void *custom_alloc(size_t size, size_t align, bool zeroed)
{
    void *p = allocator.alloc(allocator.ctx, size, align);

    if (p == NULL)
        return NULL;
    if (((uintptr_t)p & (align - 1)) != 0)
        fi_fatal(
            "filch_set_allocator: the allocator returned a misaligned block (%p, alignment %zu)", p,
            align);
    return zeroed ? memset(p, 0, size) : p;
}

static void leave_allocator(void)
{
    if (!fi_use_count_leave(&blocks))
        fi_fatal("fi_mem_free: more blocks freed than allocated");
}

static void *counted_alloc(size_t size, size_t align, bool zeroed)
{
    check_request(size, align);
    if (size > PTRDIFF_MAX)
        return NULL;
    fi_use_count_enter(&blocks);
    void *p = allocator.alloc != NULL ? custom_alloc(size, align, zeroed)
                                      : default_alloc(size, align, zeroed);
    if (p != NULL)
        fi_fetch_add_relaxed(&live_bytes, size); /* a statistic only */
    else
        leave_allocator();
    return p;
}

void *fi_mem_alloc(size_t size, size_t align)
{
    return counted_alloc(size, align, true);
}

void *fi_mem_alloc_array(size_t n, size_t size, size_t align)
{
    size_t bytes;

    if (__builtin_mul_overflow(n, size, &bytes))
        return NULL;
    return fi_mem_alloc(bytes, align);
}

void fi_mem_free(void *p, size_t size, size_t align)
{
    if (p == NULL)
        return;
    check_request(size, align);
    fi_fetch_add_relaxed(&live_bytes, (size_t)0 - size);
    if (allocator.free != NULL)
        allocator.free(allocator.ctx, p, size, align);
    else
        default_free(p, size, align);
    leave_allocator();
}

/* ---- for users ---- */

/* [any] A large block of the user is data that will be written and read.  Pages of 2 MiB cause 512
 * times fewer page faults and fewer TLB misses.  A refusal does no harm. */
static void advise_huge_pages(void *p, size_t size)
{
#ifdef MADV_HUGEPAGE
    const uintptr_t huge = (uintptr_t)2 << 20;
    uintptr_t lo = ((uintptr_t)p + huge - 1) & ~(huge - 1);
    uintptr_t hi = ((uintptr_t)p + size) & ~(huge - 1);

    if (lo < hi)
        (void)madvise((void *)lo, hi - lo, MADV_HUGEPAGE);
#else
    (void)p, (void)size;
#endif
}

void *filch_alloc(size_t size)
{
    size_t bytes = size > 0 ? size : 1;
    void *p = counted_alloc(bytes, FI_CACHE_LINE, false);

    if (p != NULL && allocator.alloc == NULL)
        advise_huge_pages(p, bytes);
    return p;
}

void filch_free(void *p, size_t size)
{
    fi_mem_free(p, size > 0 ? size : 1, FI_CACHE_LINE);
}

fi_mem_count fi_mem_live(void)
{
    return (fi_mem_count){.blocks = fi_use_count_count(&blocks),
                          .bytes = fi_load_relaxed(&live_bytes)};
}

int filch_set_allocator_(const filch_allocator *given, size_t size)
{
    filch_allocator wanted; /* zeros mean the default allocator */
    int e = fi_sized_read("filch_set_allocator", &wanted, sizeof wanted, given, size);

    if (e < 0)
        return e;
    if (given && (wanted.alloc == NULL || wanted.free == NULL))
        return fi_message_invalid("filch_set_allocator: %s is NULL; set both functions",
                                  wanted.alloc == NULL ? "alloc" : "free");
    fi_lock_lock(&replacing);
    bool unused = fi_use_count_try_close(&blocks);
    if (unused) {
        allocator = wanted;
        fi_use_count_open(&blocks);
    }
    fi_lock_unlock(&replacing);
    return unused ? 0 : -EBUSY;
}
