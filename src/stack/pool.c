/* The pool of stacks that all workers share: slabs with free stacks, guards, and trimming.  Caches
 * (cache.c) and fibers with a stack size of their own call it. */
#include "base/fatal.h"
#include "base/mem.h"
#include "stack/annotate.h"
#include "stack/slab.h"
#include "stack/stack.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FIRST_SLAB          64u   /* stacks; each further slab is twice as large ... */
#define LARGEST_SLAB        1024u /* ... up to this, */
#define LARGEST_SLAB_BYTES  ((size_t)1 << 30)
#define PROTECT_MAX_DEFAULT 16000u
#define BATCH_MAX           32u /* stacks of one system call */

static bool size_is_valid(size_t bytes, size_t low, size_t high, size_t page)
{
    return bytes >= low && bytes <= high && bytes % page == 0;
}

static bool config_is_valid(const fi_stack_config *c, size_t page)
{
    return size_is_valid(c->stack_size, FI_STACK_SIZE_MIN, FI_STACK_SIZE_MAX, page) &&
           (c->guard_size == 0 || size_is_valid(c->guard_size, page, FI_STACK_GUARD_MAX, page)) &&
           c->reserve <= c->stack_size / 2 && (unsigned)c->guard < FI_STACK_GUARD_KINDS;
}

static size_t default_guard_size(size_t page)
{
    return page > FI_STACK_GUARD_SIZE ? page : FI_STACK_GUARD_SIZE;
}

int fi_stack_pool_init(fi_stack_pool *p, const fi_stack_config *config)
{
    const fi_stack_vm *vm = config->vm ? config->vm : &fi_stack_vm_system;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    if (!config_is_valid(config, page))
        return -EINVAL;
    bool many = false;
    int kind = fi_stack_guard_probe(vm, config->guard, page, &many);
    if (kind < 0)
        return kind;
    memset(p, 0, sizeof *p);
    p->vm = *vm;
    p->page = page;
    p->stack_size = config->stack_size;
    p->guard_size = config->guard_size ? config->guard_size : default_guard_size(page);
    p->reserve = config->reserve;
    p->stride = p->stack_size + p->guard_size;
    p->protect_max = config->protect_max ? config->protect_max : PROTECT_MAX_DEFAULT;
    p->guard = (fi_stack_guard)kind;
    fi_atomic_init(&p->batches, many);
    fi_lock_init(&p->lock);
    return 0;
}

/* --- the list of slabs with a free stack [pool lock] --- */

static void slab_link_last(fi_stack_pool *p, fi_stack_slab *slab)
{
    slab->next = NULL;
    slab->prev = p->last;
    *(p->last ? &p->last->next : &p->first) = slab;
    p->last = slab;
}

static void slab_unlink(fi_stack_pool *p, fi_stack_slab *slab)
{
    *(slab->prev ? &slab->prev->next : &p->first) = slab->next;
    *(slab->next ? &slab->next->prev : &p->last) = slab->prev;
    if (p->trimming == slab)
        p->trimming = slab->prev;
}

static bool slab_is_full(const fi_stack_slab *slab)
{
    return slab->n_allocated == slab->count;
}

static unsigned next_slab_count(const fi_stack_pool *p)
{
    unsigned count = p->slabs < 4 ? FIRST_SLAB << p->slabs : LARGEST_SLAB;

    /* A division, because the product may overflow 32 bits. */
    while (count > 1 && count > LARGEST_SLAB_BYTES / p->stride)
        count /= 2;
    return count;
}

/* [pool lock] Update the counters for a new or a freed slab. */
static void pool_count_slab(fi_stack_pool *p, const fi_stack_slab *slab, bool is_new)
{
    size_t bytes = fi_stack_slab_bookkeeping(slab->count);

    p->slabs += is_new ? 1 : (size_t)-1;
    p->mapped += is_new ? slab->bytes : (size_t)0 - slab->bytes;
    p->bookkeeping += is_new ? bytes : (size_t)0 - bytes;
}

static fi_stack_slab *pool_add_slab(fi_stack_pool *p)
{
    fi_stack_slab *slab = fi_stack_slab_new(p, next_slab_count(p));

    if (!slab)
        return NULL;
    pool_count_slab(p, slab, true);
    p->empty_slabs++;
    slab_link_last(p, slab);
    slab->next_of_all = p->all;
    p->all = slab;
    return slab;
}

int fi_stack_pool_reserve(fi_stack_pool *p)
{
    bool ok;

    fi_lock_lock(&p->lock);
    ok = p->first || pool_add_slab(p);
    fi_lock_unlock(&p->lock);
    return ok ? 0 : -ENOMEM;
}

fi_stack_pool *fi_stack_pool_of(const fi_stack *s)
{
    return s->slab->pool;
}

static fi_stack *slab_take_fresh(const fi_stack_pool *p, fi_stack_slab *slab)
{
    unsigned i = slab->fresh++;
    fi_stack *s = &slab->stacks[i];

    s->low = slab->base + i * p->stride + p->guard_size;
    s->size = p->stack_size - p->reserve;
    s->slab = slab;
    return s;
}

static void pool_count_dirty(fi_stack_pool *p, size_t by)
{
    size_t dirty = fi_load_relaxed(&p->dirty) + by;

    fi_store_relaxed(&p->dirty, dirty);
    if (dirty < p->dirty_low)
        p->dirty_low = dirty;
}

static fi_stack *slab_take_returned(fi_stack **list)
{
    fi_stack *s = *list;

    *list = s->next;
    s->dirty = false;
    return s;
}

/* A stack with memory saves its user a page fault. */
static fi_stack *slab_take(fi_stack_pool *p, fi_stack_slab *slab)
{
    if (slab->dirty) {
        pool_count_dirty(p, (size_t)-1);
        return slab_take_returned(&slab->dirty);
    }
    return slab->clean ? slab_take_returned(&slab->clean) : slab_take_fresh(p, slab);
}

/* [pool lock] A stack of the slab leaves the pool. */
static void pool_count_taken(fi_stack_pool *p, fi_stack_slab *slab)
{
    if (slab->n_allocated++ == 0)
        p->empty_slabs--;
    if (slab_is_full(slab))
        slab_unlink(p, slab);
    p->n_allocated++;
}

static fi_stack *pool_take(fi_stack_pool *p)
{
    fi_stack_slab *slab = p->first ? p->first : pool_add_slab(p);

    if (!slab)
        return NULL;
    fi_stack *s = slab_take(p, slab);
    pool_count_taken(p, slab);
    return s;
}

/* --- calls for several stacks --- */

typedef struct stack_batch {
    size_t n;
    fi_stack *stacks[BATCH_MAX];
    struct iovec ranges[BATCH_MAX];
} stack_batch;

/* Returns: true if the batch is full. */
static bool batch_add(stack_batch *b, fi_stack *s, void *at, size_t bytes)
{
    b->ranges[b->n] = (struct iovec){at, bytes};
    b->stacks[b->n++] = s;
    return b->n == BATCH_MAX;
}

/* [caller] A kernel, emulator or filter that refuses one batch will refuse the next one as well.
 * Relaxed: a flag without data. */
static bool batch_is_done(fi_stack_pool *p, int error)
{
    if (error != 0)
        fi_store_relaxed(&p->batches, 0u);
    return error == 0;
}

static bool batch_is_wanted(fi_stack_pool *p, const stack_batch *b)
{
    return b->n > 1 && fi_load_relaxed(&p->batches);
}

/* --- allocation --- */

/* [caller] mprotect beyond the budget would leave no mappings for malloc and threads.  Concurrent
 * callers may exceed it, by one each. */
static bool guard_is_affordable(fi_stack_pool *p, fi_stack_guard kind)
{
    return kind != FI_STACK_GUARD_PROTECT ||
           fi_load_relaxed(&p->guards[FI_STACK_GUARD_PROTECT]) < p->protect_max; /* a counter */
}

/* [caller] Install the strongest guard, from the pool's kind down, that the kernel still grants. */
static fi_stack_guard stack_install_guard(fi_stack_pool *p, void *at)
{
    fi_stack_guard kind = p->guard;

    while (!guard_is_affordable(p, kind) ||
           fi_stack_guard_install(&p->vm, kind, at, p->guard_size) != 0)
        kind++;
    return kind;
}

/* [caller] First allocation of a stack, whose guard is installed. */
static void stack_prepare(fi_stack_pool *p, fi_stack *s, fi_stack_guard kind)
{
    s->guard = (uint8_t)kind;
    s->valgrind_id = fi_stack_register(s->low, s->size);
    fi_fetch_add_relaxed(&p->guards[kind], 1); /* relaxed: only counters */
    if (kind != p->guard)
        fi_fetch_add_relaxed(&p->fallbacks, 1);
}

/* [caller] Guards of stacks that were never allocated, with one call if the kernel allows it. */
static void batch_install_guards(fi_stack_pool *p, stack_batch *b)
{
    bool done = batch_is_wanted(p, b) &&
                batch_is_done(p, fi_stack_guard_install_many(&p->vm, b->ranges, b->n));

    for (size_t i = 0; i < b->n; i++)
        stack_prepare(p, b->stacks[i],
                      done ? FI_STACK_GUARD_MADVISE
                           : stack_install_guard(p, b->ranges[i].iov_base));
    b->n = 0;
}

/* [caller] Without the lock, because this calls the kernel. */
static void stacks_install_guards(fi_stack_pool *p, fi_stack *list)
{
    stack_batch b;

    b.n = 0;
    for (fi_stack *s = list; s; s = s->next)
        if (s->guard == FI_STACK_GUARD_BEST &&
            batch_add(&b, s, s->low - p->guard_size, p->guard_size))
            batch_install_guards(p, &b);
    batch_install_guards(p, &b);
}

int fi_stack_pool_alloc(fi_stack_pool *p, fi_stack **list, unsigned n)
{
    unsigned n_taken = 0;
    bool any_fresh = false;
    fi_stack *s, **end = list;

    fi_lock_lock(&p->lock);
    while (n_taken < n && (s = pool_take(p)) != NULL) {
        any_fresh |= s->guard == FI_STACK_GUARD_BEST;
        *end = s;
        end = &s->next;
        n_taken++;
    }
    fi_lock_unlock(&p->lock);
    *end = NULL;
    if (any_fresh)
        stacks_install_guards(p, *list);
    for (s = *list; s; s = s->next)
        fi_stack_unpoison(s->low, s->size);
    return n_taken > 0 ? (int)n_taken : -ENOMEM;
}

/* --- return --- */

/* [pool lock] Returns: the slab if it should be unmapped; NULL otherwise. */
static fi_stack_slab *pool_return(fi_stack_pool *p, fi_stack *s)
{
    fi_stack_slab *slab = s->slab;

    if (slab_is_full(slab))
        slab_link_last(p, slab);
    fi_stack **to = s->dirty ? &slab->dirty : &slab->clean;
    s->next = *to;
    *to = s;
    p->n_allocated--;
    if (--slab->n_allocated > 0 || p->empty_slabs++ == 0 || p->reserve > 0)
        return NULL;
    p->empty_slabs--;
    slab_unlink(p, slab);
    return slab;
}

static void pool_count_guards(fi_stack_pool *p, const fi_stack_slab *slab, size_t by)
{
    for (unsigned i = 0; i < slab->fresh; i++)
        fi_fetch_add_relaxed(&p->guards[slab->stacks[i].guard], by); /* a counter */
}

/* [any, slab unlinked] The kernel may refuse to unmap if that splits a mapping and there are too
 * many already.  Then the slab stays in use. */
static void pool_unmap_slab(fi_stack_pool *p, fi_stack_slab *slab)
{
    fi_stack_slab before = *slab;

    pool_count_guards(p, slab, (size_t)-1);
    bool unmapped = fi_stack_slab_free(p, slab) == 0;
    if (!unmapped)
        pool_count_guards(p, slab, 1);
    fi_lock_lock(&p->lock);
    if (unmapped)
        pool_count_slab(p, &before, false);
    else {
        p->empty_slabs++;
        slab_link_last(p, slab);
    }
    fi_lock_unlock(&p->lock);
}

/* [any, no other user of the stacks] If the kernel refuses, the pages only keep their memory. */
static void batch_discard(fi_stack_pool *p, stack_batch *b)
{
    bool done = batch_is_wanted(p, b) &&
                batch_is_done(p, p->vm.advise_many(p->vm.ctx, b->ranges, b->n, MADV_DONTNEED));

    for (size_t i = 0; i < b->n && !done; i++)
        p->vm.advise(p->vm.ctx, b->ranges[i].iov_base, b->ranges[i].iov_len, MADV_DONTNEED);
    b->n = 0;
}

static bool batch_add_pages(stack_batch *b, const fi_stack_pool *p, fi_stack *s)
{
    return batch_add(b, s, s->low, p->stack_size);
}

static void stacks_discard(fi_stack_pool *p, fi_stack *list)
{
    stack_batch b;

    b.n = 0;
    for (fi_stack *s = list; s; s = s->next)
        if (!s->dirty && batch_add_pages(&b, p, s))
            batch_discard(p, &b);
    batch_discard(p, &b);
}

/* The system call costs more than the rest of a short fiber, so it is left to a trim.  Returns:
 * false if the stack must lose its memory now. */
static bool stack_retire(fi_stack_pool *p, fi_stack *s)
{
    fi_stack_slab_check(p, s);
    fi_stack_poison(s->low, s->size);
    s->dirty = fi_load_relaxed(&p->dirty) < fi_load_relaxed(&p->dirty_max);
    return s->dirty;
}

/* [any] Return stacks whose memory was discarded or is kept. */
static void pool_return_list(fi_stack_pool *p, fi_stack *list)
{
    fi_stack_slab *to_unmap = NULL;

    fi_lock_lock(&p->lock);
    for (fi_stack *s = list, *next; s; s = next) {
        next = s->next;
        if (s->dirty)
            pool_count_dirty(p, 1);
        fi_stack_slab *slab = pool_return(p, s);
        if (slab) {
            slab->next = to_unmap;
            to_unmap = slab;
        }
    }
    fi_lock_unlock(&p->lock);
    for (fi_stack_slab *slab = to_unmap, *next; slab; slab = next) {
        next = slab->next;
        pool_unmap_slab(p, slab);
    }
}

void fi_stack_pool_free(fi_stack_pool *p, fi_stack *list)
{
    bool all_dirty = true;

    for (fi_stack *s = list; s; s = s->next)
        all_dirty &= stack_retire(p, s);
    if (!all_dirty)
        stacks_discard(p, list);
    pool_return_list(p, list);
}

/* --- trim --- */

void fi_stack_pool_enable_cache(fi_stack_pool *p)
{
    fi_store_relaxed(&p->dirty_max, SIZE_MAX);
}

void fi_stack_pool_begin_trim(fi_stack_pool *p)
{
    fi_lock_lock(&p->lock);
    p->unneeded = p->dirty_low;
    p->dirty_low = fi_load_relaxed(&p->dirty);
    p->trimming = p->last;
    fi_lock_unlock(&p->lock);
}

/* [pool lock] Was it needed meanwhile, and is there more to trim? */
static bool trim_has_more(fi_stack_pool *p)
{
    if (p->unneeded > p->dirty_low)
        p->unneeded = p->dirty_low;
    return p->unneeded > 0 && p->trimming;
}

/* [pool lock] The stack counts as allocated until it is returned without its memory. */
static fi_stack *trim_take(fi_stack_pool *p, fi_stack_slab *slab)
{
    fi_store_relaxed(&p->dirty, fi_load_relaxed(&p->dirty) - 1);
    p->dirty_low--;
    p->unneeded--;
    fi_stack *s = slab_take_returned(&slab->dirty);
    pool_count_taken(p, slab);
    return s;
}

/* [pool lock] Starts with the last slabs, because the first ones are used first.  Each slab is
 * visited once, because there may be many. */
static void trim_collect(fi_stack_pool *p, stack_batch *b)
{
    bool is_full = false;

    while (!is_full && trim_has_more(p)) {
        fi_stack_slab *slab = p->trimming;
        if (slab->dirty)
            is_full = batch_add_pages(b, p, trim_take(p, slab));
        else
            p->trimming = slab->prev;
    }
}

/* The kernel is called without the lock, because others wait for it. */
bool fi_stack_pool_trim(fi_stack_pool *p)
{
    stack_batch b;
    fi_stack *list = NULL;
    bool more;

    b.n = 0;
    fi_lock_lock(&p->lock);
    trim_collect(p, &b);
    more = trim_has_more(p);
    fi_lock_unlock(&p->lock);
    if (b.n == 0)
        return false;
    for (size_t i = 0; i < b.n; i++) {
        b.stacks[i]->next = list;
        list = b.stacks[i];
    }
    batch_discard(p, &b);
    pool_return_list(p, list);
    return more;
}

size_t fi_stack_pool_n_dirty(fi_stack_pool *p)
{
    return fi_load_relaxed(&p->dirty); /* a counter */
}

/* --- init and fini --- */

/* Unmap all slabs that the kernel allows.  The others stay in the list. */
static bool pool_unmap_slabs(fi_stack_pool *p)
{
    fi_stack_slab *slab = p->first;
    bool progress = false;

    p->first = p->last = p->trimming = NULL;
    for (fi_stack_slab *next; slab; slab = next) {
        next = slab->next;
        if (fi_stack_slab_free(p, slab) == 0)
            progress = true;
        else
            slab_link_last(p, slab);
    }
    return progress;
}

/* The kernel refuses to unmap only if that splits a mapping and there are too many.  Each unmapped
 * slab may allow another.  Address space that remains in the end has no memory; the records are
 * freed. */
void fi_stack_pool_fini(fi_stack_pool *p)
{
    if (p->n_allocated > 0)
        fi_fatal("fi_stack_pool_fini: stacks are still in use");
    while (p->first && pool_unmap_slabs(p))
        ;
    for (fi_stack_slab *slab = p->first, *next; slab; slab = next) {
        next = slab->next;
        fi_stack_slab_abandon(slab);
    }
    memset(p, 0, sizeof *p);
}

void fi_stack_pool_foreach(fi_stack_pool *p, void (*visit)(fi_stack *s, void *ctx), void *ctx)
{
    fi_lock_lock(&p->lock);
    for (fi_stack_slab *slab = p->all; slab; slab = slab->next_of_all)
        for (unsigned i = 0; i < slab->fresh; i++)
            visit(&slab->stacks[i], ctx);
    fi_lock_unlock(&p->lock);
}

fi_stack_guard fi_stack_guard_kind(const fi_stack_pool *p)
{
    return p->guard;
}

void fi_stack_pool_stats(fi_stack_pool *p, fi_stack_stats *out)
{
    fi_lock_lock(&p->lock);
    out->n_allocated = p->n_allocated;
    out->slabs = p->slabs;
    out->mapped = p->mapped;
    out->bookkeeping = p->bookkeeping;
    fi_lock_unlock(&p->lock);
    for (int i = 0; i < FI_STACK_GUARD_KINDS; i++)
        out->guards[i] = fi_load_relaxed(&p->guards[i]); /* relaxed: only counters */
    out->fallbacks = fi_load_relaxed(&p->fallbacks);
}
