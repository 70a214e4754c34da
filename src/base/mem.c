/* One allocator at a time, a count of what it has given out, and the allocator built in.
 *
 * filch_set_allocator may replace the allocator only while nothing of it is in use, and must see
 * that even when another thread is just about to allocate.  So every live block holds a lease on
 * it.
 */
#define _GNU_SOURCE
#include "base/mem.h"

#include "base/at_fork.h"
#include "base/atomic.h"
#include "base/fatal.h"
#include "base/use_count.h"

#include <errno.h>
#include <filch/memory.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* From here on, zeroed pages fresh from the system are worth more than the few bytes it takes to
 * align them ourselves: memset would commit every page of an array that may never be touched. */
#define LARGE ((size_t)64 * 1024)

static fi_use_count blocks; /* entered once per live block */
static FI_ATOMIC(size_t) live_bytes;
static filch_allocator allocator; /* under that lease; alloc is NULL: the one built in */
static fi_lock replacing;         /* so that no lease is closed during a fork */

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
        fi_fatal("allocation of 0 bytes");
    if (!is_power_of_two(align))
        fi_fatal("allocation with an alignment that is no power of two");
}

/* [any] A large block is aligned inside a larger one; the word before it says where that begins. */
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

/* [any] The allocator built in. */
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

/* [any] The user's. */
static void *custom_alloc(size_t size, size_t align, bool zeroed)
{
    void *p = allocator.alloc(allocator.ctx, size, align);

    if (p == NULL)
        return NULL;
    if (((uintptr_t)p & (align - 1)) != 0)
        fi_fatal("the allocator given to filch_set_allocator returned a misaligned block");
    return zeroed ? memset(p, 0, size) : p;
}

static void leave(void)
{
    if (!fi_use_count_leave(&blocks))
        fi_fatal("more memory freed than was allocated");
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
        fi_fetch_add_relaxed(&live_bytes, size); /* a figure, it guards nothing */
    else
        leave();
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
    leave();
}

/* ---- for users ---- */

/* [any] A block this large is data, all of which will be written and read: with pages of 2 MiB the system is
 * entered 512 times less often, and addresses are found faster.  Where there are none, nothing is lost. */
static void ask_for_huge_pages(void *p, size_t size)
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
    size_t some = size > 0 ? size : 1;
    void *p = counted_alloc(some, FI_CACHE_LINE, false);

    if (p != NULL && allocator.alloc == NULL)
        ask_for_huge_pages(p, some);
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

int filch_set_allocator(const filch_allocator *wanted)
{
    static const filch_allocator built_in;

    if (wanted == NULL)
        wanted = &built_in;
    else if (wanted->alloc == NULL || wanted->free == NULL)
        return -EINVAL;
    fi_lock_lock(&replacing);
    bool unused = fi_use_count_try_close(&blocks);
    if (unused) {
        allocator = *wanted;
        fi_use_count_open(&blocks);
    }
    fi_lock_unlock(&replacing);
    return unused ? 0 : -EBUSY;
}
