/* A pool that keeps the memory of free stacks, and trims. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* mincore */
#endif
#include "base/mem.h"
#include "check.h"
#include "seed.h"
#include "stack/stack.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#define SIZE    ((size_t)65536)
#define RESERVE 64 /* so that no slab is unmapped */

static fi_stack_pool pool;

static void start_with(const fi_stack_vm *vm)
{
    fi_stack_config config = {.stack_size = SIZE, .reserve = RESERVE, .vm = vm};

    CHECK_INT(fi_stack_pool_init(&pool, &config), 0);
    fi_stack_pool_enable_cache(&pool);
}

static void start(void)
{
    start_with(NULL);
}

static void finish(void)
{
    fi_stack_pool_fini(&pool);
    CHECK_INT(fi_mem_live().blocks, 0);
}

static fi_stack *get(unsigned n)
{
    fi_stack *list = NULL;

    CHECK_INT(fi_stack_pool_alloc(&pool, &list, n), n);
    return list;
}

/* Returns the number of free stacks that have memory after a whole trim. */
static size_t trim(void)
{
    fi_stack_pool_begin_trim(&pool);
    while (fi_stack_pool_trim(&pool))
        ;
    return fi_stack_pool_n_dirty(&pool);
}

static bool is_resident(const fi_stack *s)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char in;

    CHECK_INT(mincore(s->low + SIZE - page, page, &in), 0);
    return in & 1;
}

/* Emulators may not implement mincore: check it with memory that is known to be untouched. */
static bool mincore_works(void)
{
    fi_stack *s = get(1);
    bool works = !is_resident(s);

    fi_stack_pool_free(&pool, s);
    if (!works)
        printf("mincore does not work here; only counters are checked\n");
    return works;
}

/* One stack in STAY remains in use, with its memory. */
static void unneeded_stacks_are_trimmed_in_parts(void **state)
{
    enum { MANY = 2000, STAY = 16 };
    static fi_stack *all[MANY];
    size_t left = MANY - MANY / STAY, before;
    unsigned parts = 0;
    bool more, can_tell;

    (void)state;
    start();
    can_tell = mincore_works();
    for (int i = 0; i < MANY; i++) {
        all[i] = get(1);
        all[i]->low[all[i]->size - 1] = 1;
    }
    for (int i = 0; i < MANY; i++)
        if (i % STAY)
            fi_stack_pool_free(&pool, all[i]);
    CHECK_INT(trim(), left); /* they were used since the last trim */
    fi_stack_pool_begin_trim(&pool);
    do {
        before = left;
        more = fi_stack_pool_trim(&pool);
        left = fi_stack_pool_n_dirty(&pool);
        CHECK(left < before);
        parts++;
    } while (more);
    CHECK_INT(left, 0);
    CHECK(parts > 10);
    for (int i = 0; i < MANY; i++)
        CHECK(!can_tell || is_resident(all[i]) == (i % STAY == 0));
    for (int i = 0; i < MANY; i += STAY)
        fi_stack_pool_free(&pool, all[i]);
    finish();
}

static void needed_stacks_are_not_trimmed(void **state)
{
    enum { N = 60, NEEDED = 40 };

    (void)state;
    start();
    fi_stack_pool_free(&pool, get(N));
    CHECK_INT(trim(), N);
    fi_stack_pool_free(&pool, get(NEEDED)); /* since the last trim */
    CHECK_INT(trim(), NEEDED);
    CHECK_INT(trim(), 0);
    fi_stack_pool_free(&pool, get(N));
    trim();
    fi_stack_pool_begin_trim(&pool);
    fi_stack_pool_free(&pool, get(NEEDED)); /* during a trim */
    while (fi_stack_pool_trim(&pool))
        ;
    CHECK_INT(fi_stack_pool_n_dirty(&pool), NEEDED);
    finish();
}

static void stacks_with_memory_are_allocated_first(void **state)
{
    fi_stack *a, *b, *again;

    (void)state;
    start();
    a = get(1);
    b = get(1);
    fi_stack_pool_free(&pool, b);
    trim();
    CHECK_INT(trim(), 0);
    a->low[0] = 42;
    fi_stack_pool_free(&pool, a);
    again = get(1);
    CHECK(again == a && again->low[0] == 42);
    fi_stack_pool_free(&pool, again);
    finish();
}

/* The trim has all free stacks of a full slab for a moment. */
static void a_slab_is_used_again_after_a_trim(void **state)
{
    fi_stack_stats before, after;
    fi_stack *all, *rest;

    (void)state;
    start();
    all = get(64);
    rest = all->next;
    all->next = NULL;
    fi_stack_pool_free(&pool, rest);
    trim();
    CHECK_INT(trim(), 0);
    fi_stack_pool_stats(&pool, &before);
    CHECK_INT(before.n_allocated, 1);
    rest = get(63);
    fi_stack_pool_stats(&pool, &after);
    CHECK_INT(after.slabs, before.slabs);
    CHECK_INT(after.n_allocated, 64);
    fi_stack_pool_free(&pool, rest);
    fi_stack_pool_free(&pool, all);
    finish();
}

/* --- allocations during the system call of a trim --- */

static unsigned n_discards;

static int alloc_and_discard(const struct iovec *ranges, size_t n)
{
    static bool is_nested;
    fi_stack *list;

    n_discards++;
    if (!is_nested) {
        is_nested = true;
        list = get(100); /* more than the pool has without the stacks of the trim */
        for (fi_stack *s = list; s; s = s->next)
            for (size_t i = 0; i < n; i++)
                CHECK(s->low != ranges[i].iov_base);
        fi_stack_pool_free(&pool, list);
        is_nested = false;
    }
    for (size_t i = 0; i < n; i++)
        CHECK_INT(madvise(ranges[i].iov_base, ranges[i].iov_len, MADV_DONTNEED), 0);
    return 0;
}

static int slow_advise(void *ctx, void *at, size_t bytes, int advice)
{
    struct iovec range = {at, bytes};

    if (advice == MADV_DONTNEED)
        return alloc_and_discard(&range, 1);
    return fi_stack_vm_system.advise(ctx, at, bytes, advice);
}

static int slow_advise_many(void *ctx, const struct iovec *ranges, size_t n, int advice)
{
    if (advice == MADV_DONTNEED)
        return alloc_and_discard(ranges, n);
    return fi_stack_vm_system.advise_many(ctx, ranges, n, advice);
}

static void stacks_of_a_trim_are_not_allocated(void **state)
{
    fi_stack_vm vm = fi_stack_vm_system;

    (void)state;
    vm.advise = slow_advise;
    vm.advise_many = slow_advise_many;
    start_with(&vm);
    fi_stack_pool_free(&pool, get(64)); /* the whole slab */
    trim();
    trim();
    CHECK(n_discards > 0);
    finish();
}

/* --- several workers and a trimmer --- */

#define HELD    200
#define WORKERS 3

struct worker {
    pthread_t thread;
    uint64_t seed;
    fi_stack_cache cache;
    fi_stack *held[HELD];
};

static uint64_t next_random(uint64_t *s)
{
    *s = *s * 6364136223846793005u + 1442695040888963407u;
    return *s >> 33;
}

static struct worker **mark_of(const fi_stack *s)
{
    return (struct worker **)(void *)(s->low + s->size - sizeof(void *));
}

/* A trim must not take the memory of a stack in use, nor may two users get the same stack. */
static void swap_one(struct worker *w)
{
    fi_stack **held = &w->held[next_random(&w->seed) % HELD];

    if (*held) {
        CHECK(*mark_of(*held) == w);
        fi_stack_free(&w->cache, *held, NULL);
        *held = NULL;
        return;
    }
    CHECK_INT(fi_stack_alloc(&w->cache, held), 0);
    *mark_of(*held) = w;
}

static void *work(void *arg)
{
    struct worker *w = arg;

    CHECK_INT(fi_stack_cache_init(&w->cache, &pool, 8), 0);
    for (int i = 0; i < 5000; i++)
        swap_one(w);
    for (int i = 0; i < HELD; i++)
        if (w->held[i])
            fi_stack_free(&w->cache, w->held[i], NULL);
    fi_stack_cache_fini(&w->cache);
    return NULL;
}

static FI_ATOMIC(uint32_t) trimmer_stops;

static void *trim_until_stopped(void *arg)
{
    (void)arg;
    while (!fi_load_relaxed(&trimmer_stops)) /* a flag without data */
        trim();
    return NULL;
}

static void workers_allocate_during_trims(void **state)
{
    static struct worker workers[WORKERS];
    uint64_t seed = seed_get();
    pthread_t trimmer;

    (void)state;
    start();
    CHECK_INT(pthread_create(&trimmer, NULL, trim_until_stopped, NULL), 0);
    for (int i = 0; i < WORKERS; i++) {
        workers[i].seed = seed + (uint64_t)i;
        CHECK_INT(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < WORKERS; i++)
        CHECK_INT(pthread_join(workers[i].thread, NULL), 0);
    fi_store_relaxed(&trimmer_stops, 1u);
    CHECK_INT(pthread_join(trimmer, NULL), 0);
    trim();
    CHECK_INT(trim(), 0);
    finish();
}

CHECK_MAIN(unneeded_stacks_are_trimmed_in_parts, needed_stacks_are_not_trimmed,
           stacks_with_memory_are_allocated_first, a_slab_is_used_again_after_a_trim,
           stacks_of_a_trim_are_not_allocated, workers_allocate_during_trims)
