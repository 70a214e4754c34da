/* Stacks for fibers: guarded, and committed page by page when they are touched.
 *
 *     fi_stack_pool pool;                          stacks of one size, shared by all workers
 *     fi_stack_pool_init(&pool, &(fi_stack_config){.stack_size = 65536});
 *     fi_stack_cache cache;                        one for each worker
 *     fi_stack_cache_init(&cache, &pool, 0);
 *     fi_stack *s;
 *     if (fi_stack_alloc(&cache, &s) == 0) {
 *         ... s->low, s->size ...
 *         fi_stack_free(&cache, s, "my fiber");
 *     }
 *
 * A slab is one mapping with many stacks in it, each above its guard:
 *
 *     | guard | stack 0 ......... | guard | stack 1 ......... | guard | ...
 *
 * A stack that was never allocated costs only its record, which is outside the stack so that the
 * stack is not touched.  A worker's cache keeps a few stacks with their memory.  A stack that is
 * returned to the pool loses its memory at once, or in a later trim.  A slab without allocated
 * stacks is unmapped, except for one, which avoids repeated mapping.  With a reserve, all slabs are
 * kept.
 */
#ifndef FI_STACK_STACK_H
#define FI_STACK_STACK_H

#include "base/atomic.h"
#include "base/lock.h"
#include "stack/guard.h"
#include "stack/vm.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FI_STACK_SIZE_MIN  ((size_t)8192)
#define FI_STACK_SIZE_MAX  ((size_t)1 << 30)
#define FI_STACK_GUARD_MAX ((size_t)1 << 20)

/* A frame that is larger than the guard may reach over it into the stack of another fiber.  64 KiB
 * stops all but the largest frames, and is the minimum that compilers for aarch64 assume when they
 * probe large frames (-fstack-clash-protection).  It costs address space and page tables, but no
 * other memory. */
#define FI_STACK_GUARD_SIZE ((size_t)64 << 10)

typedef struct fi_stack_slab fi_stack_slab;

/* One stack.  The user reads low and size.  The other fields belong to the pool. */
typedef struct fi_stack {
    char *low; /* the stack is [low, low + size), the guard is directly below */
    size_t size;
    struct fi_stack *next; /* in a list of the pool or a cache, while it is not in use */
    fi_stack_slab *slab;
    uint32_t valgrind_id;
    uint8_t guard;     /* the kind of its guard; FI_STACK_GUARD_BEST: never allocated yet */
    bool is_allocated; /* a user has it, not a cache or the pool */
    bool dirty;        /* returned to the pool, still with memory */
    bool in_use;       /* set by its user, read by fi_stack_pool_foreach callers */
} fi_stack;

typedef struct fi_stack_config {
    size_t stack_size; /* usable bytes: a multiple of the page size within the bounds above */
    size_t guard_size; /* multiple of the page size; 0: FI_STACK_GUARD_SIZE */
    /* Bytes at the upper end of each stack that belong to its user and not to the stack, whose size
     * is smaller by that.  They stay readable and writable as long as the pool exists, even after
     * the stack was freed, so no slab is unmapped earlier.  Their content is then undefined. */
    size_t reserve;
    fi_stack_guard guard;
    /* Max number of guards by mprotect; further stacks get canaries.  0: 16,000, which leaves half
     * of the default limit of mappings to the rest of the process. */
    size_t protect_max;
    const fi_stack_vm *vm; /* NULL: the kernel */
} fi_stack_config;

typedef struct fi_stack_stats {
    size_t n_allocated;                  /* stacks that caches and users have */
    size_t slabs;                        /* mapped now */
    size_t mapped;                       /* bytes of address space, guards included */
    size_t bookkeeping;                  /* bytes of records */
    size_t guards[FI_STACK_GUARD_KINDS]; /* stacks mapped now, by kind of guard */
    size_t fallbacks;                    /* guards that are weaker than this pool's kind */
} fi_stack_stats;

/* Shared.  The lock guards all fields after it except the atomic counters. */
typedef struct fi_stack_pool {
    fi_stack_vm vm;
    size_t stack_size, guard_size, reserve, stride, page, protect_max;
    fi_stack_guard guard;
    FI_ATOMIC(uint32_t) batches; /* not 0: the kernel takes advice for several ranges */

    fi_lock lock;
    fi_stack_slab *first, *last; /* slabs with a free stack */
    fi_stack_slab *all;          /* with a reserve: all slabs */
    size_t empty_slabs;          /* slabs without an allocated stack */
    FI_ATOMIC(size_t)
    dirty;                   /* free stacks that still have memory; written under the lock */
    size_t dirty_low;        /* the minimum of dirty since the last fi_stack_pool_begin_trim */
    size_t unneeded;         /* dirty stacks that are still to be trimmed */
    fi_stack_slab *trimming; /* the slab where a trim continues; NULL: no trim, or it is complete */
    FI_ATOMIC(size_t) dirty_max; /* further stacks lose their memory when they are returned */
    size_t n_allocated, slabs, mapped, bookkeeping;
    FI_ATOMIC(size_t) guards[FI_STACK_GUARD_KINDS];
    FI_ATOMIC(size_t) fallbacks;
} fi_stack_pool;

/* [any] Returns: 0; -EINVAL: wrong size or kind; -ENOTSUP: the requested guard does not work here;
 * -ENOMEM.  On failure *p is unchanged. */
int fi_stack_pool_init(fi_stack_pool *p, const fi_stack_config *config);

/* [any, before the first allocation] Map the first stacks, so that at least one can be allocated.
 * Returns: 0; -ENOMEM. */
int fi_stack_pool_reserve(fi_stack_pool *p);

/* [any] The pool of a stack. */
fi_stack_pool *fi_stack_pool_of(const fi_stack *s);

/* [any, when no cache and no user is left] Unmap all slabs. */
void fi_stack_pool_fini(fi_stack_pool *p);

/* [any] Allocate up to n stacks, as a list.  Returns: their number, at least 1; -ENOMEM. */
int fi_stack_pool_alloc(fi_stack_pool *p, fi_stack **list, unsigned n);

/* [any] Return a list of stacks to the pool and their memory to the kernel.  A stack of another
 * pool aborts the program.  A stack that is returned twice is not detected. */
void fi_stack_pool_free(fi_stack_pool *p, fi_stack *list);

/* [any] From now on keep the memory of returned stacks for their next users.  The caller must
 * trim. */
void fi_stack_pool_enable_cache(fi_stack_pool *p);

/* [any] Begin to trim: return the memory of those stacks to the kernel that were not needed since
 * the last call. */
void fi_stack_pool_begin_trim(fi_stack_pool *p);

/* [any] Trim a few of these stacks.  Returns: true if there are more. */
bool fi_stack_pool_trim(fi_stack_pool *p);

/* [any] The number of free stacks that still have memory. */
size_t fi_stack_pool_n_dirty(fi_stack_pool *p);

/* [any] Call visit for every stack that was ever allocated, under the pool's lock.  Needs a
 * reserve. */
void fi_stack_pool_foreach(fi_stack_pool *p, void (*visit)(fi_stack *s, void *ctx), void *ctx);

/* [any] The guard of stacks of this pool, as determined at init. */
fi_stack_guard fi_stack_guard_kind(const fi_stack_pool *p);

/* [any] A snapshot. */
void fi_stack_pool_stats(fi_stack_pool *p, fi_stack_stats *out);

#define FI_STACK_CACHE_DEFAULT 32
#define FI_STACK_CACHE_MAX     1024

/* Used by one worker only. */
typedef struct fi_stack_cache {
    fi_stack_pool *pool;
    fi_stack *warm; /* most recently used first */
    unsigned n, limit;
} fi_stack_cache;

/* [owner] Keep up to limit stacks (0: FI_STACK_CACHE_DEFAULT).
 * Returns: 0; -EINVAL: limit is more than FI_STACK_CACHE_MAX. */
int fi_stack_cache_init(fi_stack_cache *c, fi_stack_pool *p, unsigned limit);

/* [owner] Return all stacks to the pool. */
void fi_stack_cache_fini(fi_stack_cache *c);

/* [owner] Allocate the most recently used stack.  Returns: 0; -ENOMEM. */
int fi_stack_alloc(fi_stack_cache *c, fi_stack **s);

/* [any, before it is freed] If the guard is a canary, detect an overflow and abort with the message
 * of an overflow fault.  name: the fiber's name for the message, or NULL. */
void fi_stack_check(const fi_stack *s, const char *name);

/* [owner] Free a stack that is not running.  It is checked as above.
 *
 * Aborts for a stack of another pool, and for one that is freed twice while a cache or the pool has
 * it.  A second free after it was allocated again is not detected.  After its slab was unmapped, a
 * second free reads a freed record, which only ASan detects. */
void fi_stack_free(fi_stack_cache *c, fi_stack *s, const char *name);

#endif
