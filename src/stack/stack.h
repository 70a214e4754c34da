/* Stacks for fibers: many, guarded, committed page by page as they are touched.
 *
 *     fi_stack_pool pool;                          one size of stack, shared by all workers
 *     fi_stack_pool_init(&pool, &(fi_stack_config){.stack_size = 65536});
 *     fi_stack_cache cache;                        one per worker
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
 * A stack that was never lent out costs nothing but its record here (not in the stack: that would
 * touch it).  A worker's cache keeps a few stacks warm, memory and all; what it gives back to the
 * pool loses its memory at once, or later where somebody trims, and a slab of which no stack is lent out is unmapped (one is kept
 * against going back and forth; with a reserve, all are kept).
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

/* A function whose frame is larger than the guard may step over it, into the stack of another
 * fiber.  64 KiB stops all but the largest frames, and is the minimum that compilers for aarch64
 * assume when they probe large frames (-fstack-clash-protection).  It costs address space and page
 * tables, but no other memory. */
#define FI_STACK_GUARD_SIZE ((size_t)64 << 10)

typedef struct fi_stack_slab fi_stack_slab;

/* One stack.  Its user reads low and size; the rest is the pool's. */
typedef struct fi_stack {
    char *low; /* the stack is [low, low + size), the guard lies right below */
    size_t size;
    struct fi_stack *next; /* in the list of whoever keeps it while it is not lent out */
    fi_stack_slab *slab;
    uint32_t valgrind_id;
    uint8_t guard; /* which kind it got; FI_STACK_GUARD_BEST: never lent out yet */
    uint8_t lent;
    bool dirty;  /* given back, with its memory */
    bool in_use; /* its user's, for who looks at all */
} fi_stack;

typedef struct fi_stack_config {
    size_t stack_size; /* usable bytes: a multiple of the page size within the bounds above */
    size_t guard_size; /* multiple of the page size; 0: FI_STACK_GUARD_SIZE */
    /* Bytes at the upper end of each that are not part of the stack but of whoever has it: its usable size is so much
     * less.  They can be read and written as long as the pool is there, also by who is late: for that, no slab is unmapped
     * before.  After the stack was given back they hold anything, mostly zeros. */
    size_t reserve;
    fi_stack_guard guard;
    /* At most so many guards by mprotect, then canaries.  0: 16,000, which leaves half of the usual
     * limit of mappings to the rest of the process. */
    size_t protect_max;
    const fi_stack_vm *vm; /* NULL: the kernel */
} fi_stack_config;

typedef struct fi_stack_stats {
    size_t lent;                         /* to caches and users */
    size_t slabs;                        /* mapped now */
    size_t mapped;                       /* bytes of address space, guards included */
    size_t bookkeeping;                  /* bytes of records */
    size_t guards[FI_STACK_GUARD_KINDS]; /* stacks mapped now, by the guard they got */
    size_t fallbacks;                    /* times a guard came out weaker than this pool's kind */
} fi_stack_stats;

/* Shared.  Everything after the lock is guarded by it, but for the atomic counters. */
typedef struct fi_stack_pool {
    fi_stack_vm vm;
    size_t stack_size, guard_size, reserve, stride, page, protect_max;
    fi_stack_guard guard;

    fi_lock lock;
    fi_stack_slab *first, *last; /* slabs with a stack to lend */
    fi_stack_slab *all;          /* where there is a reserve: all slabs */
    size_t empty_slabs;          /* of these: slabs with none lent */
    FI_ATOMIC(size_t)
    dirty; /* stacks that were given back and have their memory; written under the lock */
    size_t dirty_low; /* the fewest since the last trim */
    fi_stack_slab
        *trimming; /* where a trim goes on; NULL: there is none, or it has been everywhere */
    FI_ATOMIC(size_t) dirty_max; /* beyond that, what is given back loses its memory at once */
    size_t lent, slabs, mapped, bookkeeping;
    FI_ATOMIC(size_t) guards[FI_STACK_GUARD_KINDS];
    FI_ATOMIC(size_t) fallbacks;
} fi_stack_pool;

/* [any] 0; -EINVAL for a bad size or kind; -ENOTSUP when a certain guard was wanted that does not
 * work here; -ENOMEM.  Touches nothing on failure. */
int fi_stack_pool_init(fi_stack_pool *p, const fi_stack_config *config);

/* [any, before the first is lent] Map the first stacks, so that at least one can be lent; 0 or -ENOMEM. */
int fi_stack_pool_reserve(fi_stack_pool *p);

/* [any] The pool that a stack is from. */
fi_stack_pool *fi_stack_pool_of(const fi_stack *s);

/* [any, when no cache and no user is left] Unmap everything. */
void fi_stack_pool_fini(fi_stack_pool *p);

/* [any] Lend up to n stacks, as a list; how many, at least 1, or -ENOMEM. */
int fi_stack_pool_get(fi_stack_pool *p, fi_stack **list, unsigned n);

/* [any] Take back a list of stacks and give their memory to the kernel.  Stacks of another pool are
 * a mistake that is named; the same stack twice is one that is not seen. */
void fi_stack_pool_put(fi_stack_pool *p, fi_stack *list);

/* [any] From now on keep the memory of all stacks that are given back, as their next users need it; somebody will trim. */
void fi_stack_pool_enable_cache(fi_stack_pool *p);

/* [any] Give the memory of those to the kernel that nobody has needed since the last time.  How many still have theirs. */
size_t fi_stack_pool_trim(fi_stack_pool *p);

/* [any] Call visit for every stack that was ever lent out, under the pool's lock; there must be a reserve. */
void fi_stack_pool_foreach(fi_stack_pool *p, void (*visit)(fi_stack *s, void *ctx), void *ctx);

/* [any] The guard that stacks of this pool get, as found out at init. */
fi_stack_guard fi_stack_guard_kind(const fi_stack_pool *p);

/* [any] A snapshot. */
void fi_stack_pool_stats(fi_stack_pool *p, fi_stack_stats *out);

#define FI_STACK_CACHE_DEFAULT 32
#define FI_STACK_CACHE_MAX     1024

/* Of one worker, and used by it alone. */
typedef struct fi_stack_cache {
    fi_stack_pool *pool;
    fi_stack *warm; /* newest first */
    unsigned n, limit;
} fi_stack_cache;

/* [owner] Keep up to limit stacks warm (0: FI_STACK_CACHE_DEFAULT); -EINVAL beyond
 * FI_STACK_CACHE_MAX. */
int fi_stack_cache_init(fi_stack_cache *c, fi_stack_pool *p, unsigned limit);

/* [owner] Give everything back to the pool. */
void fi_stack_cache_fini(fi_stack_cache *c);

/* [owner] A stack, the warmest there is; 0 or -ENOMEM. */
int fi_stack_alloc(fi_stack_cache *c, fi_stack **s);

/* [any, before it is freed] If its guard is a canary, an overflow is detected here and ends the
 * program with the line that a fault would have given.  name: the fiber's name for that line, or
 * NULL. */
void fi_stack_check(const fi_stack *s, const char *name);

/* [owner] Take back a stack that nobody runs on.  It is checked as above.
 *
 * Mistakes that are named: a stack of another pool, and one that is given back twice while a cache
 * or the pool still has it.  Not seen: a second time after it was lent to somebody else.  After its
 * slab is gone, the second time reads a record that has been freed, which ASan tells and nothing
 * else does: to catch that, records could never be freed. */
void fi_stack_free(fi_stack_cache *c, fi_stack *s, const char *name);

#endif
