/* Every block lies between two guards, and has a record in a list while it lives:
 *
 *     raw | ... | guard | block, size bytes | guard
 *
 * Records and blocks come from malloc, so that only injected failures occur.
 */
#define _GNU_SOURCE
#include "fault/inject.h"

#include <errno.h>
#include <filch/memory.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GUARD      64
#define GUARD_BYTE 0xa5
#define NEW_BYTE   0xcd
#define FREED_BYTE 0xdd

typedef struct block {
    struct block *next;
    unsigned char *p;
    void *raw;
    size_t size;
    size_t align;
} block;

static struct {
    pthread_mutex_t lock;
    unsigned fail_at;
    bool and_after;
    unsigned n_allocations;
    unsigned live;
    bool failed;
    block *blocks;
} now = {.lock = PTHREAD_MUTEX_INITIALIZER};

__attribute__((format(printf, 1, 2))) _Noreturn static void give_up(const char *what, ...)
{
    va_list args;

    fprintf(stderr, "inject: ");
    va_start(args, what);
    /* clang-tidy 14 overlooks va_start here. */
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
    vfprintf(stderr, what, args);
    va_end(args);
    if (now.fail_at == INJECT_NEVER)
        fprintf(stderr, " (no allocation made to fail)\n");
    else
        fprintf(stderr, " (allocation %u made to fail%s)\n", now.fail_at,
                now.and_after ? ", and all after it" : "");
    abort();
}

static bool shall_fail(void)
{
    now.n_allocations++;
    if (now.fail_at == INJECT_NEVER)
        return false;
    return now.and_after ? now.n_allocations >= now.fail_at : now.n_allocations == now.fail_at;
}

static block *make_block(size_t size, size_t align)
{
    size_t before = align > GUARD ? align : GUARD;
    block *b = malloc(sizeof *b);
    void *raw = NULL;

    if (b == NULL || posix_memalign(&raw, before, before + size + GUARD) != 0)
        give_up("out of memory");
    *b = (block){.p = (unsigned char *)raw + before, .raw = raw, .size = size, .align = align};
    memset(b->p - GUARD, GUARD_BYTE, GUARD);
    memset(b->p, NEW_BYTE, size);
    memset(b->p + size, GUARD_BYTE, GUARD);
    return b;
}

static void *inject_alloc(void *ctx, size_t size, size_t align)
{
    void *p = NULL;

    (void)ctx;
    pthread_mutex_lock(&now.lock);
    if (shall_fail()) {
        now.failed = true;
    } else {
        block *b = make_block(size, align);
        b->next = now.blocks;
        now.blocks = b;
        now.live++;
        p = b->p;
    }
    pthread_mutex_unlock(&now.lock);
    return p;
}

static bool is_intact(const unsigned char *guard)
{
    for (int i = 0; i < GUARD; i++)
        if (guard[i] != GUARD_BYTE)
            return false;
    return true;
}

static void check_block(const block *b, size_t size, size_t align)
{
    if (size != b->size || align != b->align)
        give_up("allocated with size %zu and alignment %zu, freed with %zu and %zu", b->size,
                b->align, size, align);
    if (!is_intact(b->p - GUARD))
        give_up("a block of size %zu was written before its beginning", size);
    if (!is_intact(b->p + b->size))
        give_up("a block of size %zu was written behind its end", size);
}

/* The link to the block, or the end of the list. */
static block **find(const void *p)
{
    block **at = &now.blocks;

    while (*at != NULL && (*at)->p != p)
        at = &(*at)->next;
    return at;
}

static void inject_free(void *ctx, void *p, size_t size, size_t align)
{
    (void)ctx;
    pthread_mutex_lock(&now.lock);
    block **at = find(p);
    block *b = *at;
    if (b == NULL)
        give_up("freed twice, or never allocated: %zu bytes", size);
    check_block(b, size, align);
    *at = b->next;
    now.live--;
    memset(b->p, FREED_BYTE, b->size);
    free(b->raw);
    free(b);
    pthread_mutex_unlock(&now.lock);
}

void inject_start(unsigned fail_at, bool and_after)
{
    static const filch_allocator failing = {.alloc = inject_alloc, .free = inject_free};

    now.fail_at = fail_at;
    now.and_after = and_after;
    now.n_allocations = 0;
    now.failed = false;
    if (filch_set_allocator(&failing) != 0)
        give_up("memory is in use already, so the allocator cannot be replaced");
}

bool inject_stop(void)
{
    if (now.blocks != NULL)
        give_up("%u blocks left over, the newest of size %zu and alignment %zu", now.live,
                now.blocks->size, now.blocks->align);
    if (filch_set_allocator(NULL) != 0)
        give_up("memory is in use that this allocator did not give");
    return now.failed;
}

unsigned inject_n_allocations(void)
{
    pthread_mutex_lock(&now.lock);
    unsigned n = now.n_allocations;
    pthread_mutex_unlock(&now.lock);
    return n;
}

unsigned inject_live(void)
{
    pthread_mutex_lock(&now.lock);
    unsigned n = now.live;
    pthread_mutex_unlock(&now.lock);
    return n;
}

/* Returns true if the function reached the allocation that failed. */
static bool run_round(int (*run)(void *arg), void *arg, unsigned fail_at, bool and_after)
{
    inject_start(fail_at, and_after);
    int e = run(arg);
    if (e != 0 && e != -ENOMEM)
        give_up("returned %d instead of 0 or -ENOMEM", e);
    if (e != 0 && !now.failed)
        give_up("returned -ENOMEM although no allocation failed");
    return inject_stop();
}

unsigned inject_every(int (*run)(void *arg), void *arg)
{
    run_round(run, arg, INJECT_NEVER, false);
    unsigned n_allocations = inject_n_allocations();

    for (unsigned n = 1; run_round(run, arg, n, false); n++)
        run_round(run, arg, n, true);
    return n_allocations;
}
