/* Pools and caches of stacks: invalid arguments, caching, memory returned to the system. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* mincore */
#endif
#include "base/mem.h"
#include "check.h"
#include "child.h"
#include "seed.h"
#include "stack/stack.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>

#define SIZE ((size_t)65536)

static fi_stack_pool pool;
static fi_stack_cache cache;

static fi_stack *seen[256]; /* results of get() since start() */
static size_t seen_n;

static void start(fi_stack_guard guard, unsigned limit)
{
    fi_stack_config config = {.stack_size = SIZE, .guard = guard};

    CHECK_INT(fi_stack_pool_init(&pool, &config), 0);
    CHECK_INT(fi_stack_cache_init(&cache, &pool, limit), 0);
    seen_n = 0;
}

static void finish(void)
{
    fi_stack_cache_fini(&cache);
    fi_stack_pool_fini(&pool);
    CHECK_INT(fi_mem_live().blocks, 0);
}

static fi_stack *get(void)
{
    fi_stack *s = NULL;

    CHECK_INT(fi_stack_alloc(&cache, &s), 0);
    if (seen_n < 256)
        seen[seen_n++] = s;
    CHECK(s != NULL && s->low != NULL);
    CHECK_INT(s->size, SIZE);
    return s;
}

/* Free the results of get() that are still in use. */
static void free_all_in_use(void)
{
    for (size_t i = 0; i < seen_n; i++)
        if (seen[i]->is_allocated)
            fi_stack_free(&cache, seen[i], NULL);
}

static int init_with(size_t stack_size, size_t guard_size, int guard)
{
    fi_stack_config config = {
        .stack_size = stack_size, .guard_size = guard_size, .guard = (fi_stack_guard)guard};
    int e = fi_stack_pool_init(&pool, &config);

    if (e == 0)
        fi_stack_pool_fini(&pool);
    return e;
}

static void bad_sizes_are_refused(void **state)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    (void)state;
    CHECK_INT(init_with(0, 0, 0), -EINVAL);
    CHECK_INT(init_with(1, 0, 0), -EINVAL);
    CHECK_INT(init_with(FI_STACK_SIZE_MIN - 1, 0, 0), -EINVAL);
    CHECK_INT(init_with(SIZE + 1, 0, 0), -EINVAL);
    CHECK_INT(init_with(SIZE + page / 2, 0, 0), -EINVAL);
    CHECK_INT(init_with(FI_STACK_SIZE_MAX + page, 0, 0), -EINVAL);
    CHECK_INT(init_with(SIZE_MAX, 0, 0), -EINVAL);
    CHECK_INT(init_with(SIZE_MAX - page + 1, 0, 0), -EINVAL);
    CHECK_INT(init_with(SIZE, page + 1, 0), -EINVAL);
    CHECK_INT(init_with(SIZE, SIZE_MAX - page + 1, 0), -EINVAL);
    CHECK_INT(init_with(SIZE, 0, FI_STACK_GUARD_KINDS), -EINVAL);
    CHECK_INT(init_with(SIZE, 0, -1), -EINVAL);
    CHECK_INT(init_with(SIZE, 0, 0), 0);
    CHECK_INT(init_with(SIZE, 4 * page, 0), 0);
    CHECK_INT(init_with(FI_STACK_SIZE_MAX, 0, 0), 0);
}

static void bad_limits_are_refused(void **state)
{
    (void)state;
    CHECK_INT(fi_stack_cache_init(&cache, &pool, FI_STACK_CACHE_MAX + 1), -EINVAL);
    CHECK_INT(fi_stack_cache_init(&cache, &pool, UINT32_MAX), -EINVAL);
    CHECK_INT(fi_stack_cache_init(&cache, &pool, FI_STACK_CACHE_MAX), 0);
}

static void largest_and_smallest_stacks_work(void **state)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t least = FI_STACK_SIZE_MIN > page ? FI_STACK_SIZE_MIN : page;
    size_t sizes[] = {least, FI_STACK_SIZE_MAX};

    (void)state;
    for (int i = 0; i < 2; i++) {
        fi_stack_config config = {.stack_size = sizes[i]};
        fi_stack_stats stats;
        fi_stack *s;

        CHECK_INT(fi_stack_pool_init(&pool, &config), 0);
        CHECK_INT(fi_stack_pool_alloc(&pool, &s, 1), 1);
        s->low[0] = s->low[s->size - 1] = 1;
        fi_stack_pool_stats(&pool, &stats);
        CHECK(stats.mapped < 2 * FI_STACK_SIZE_MAX); /* large stacks come in small slabs */
        fi_stack_pool_free(&pool, s);
        fi_stack_pool_fini(&pool);
    }
}

/* --- guards --- */

static bool guard_works_here(fi_stack_guard guard)
{
    int e = init_with(SIZE, 0, (int)guard);

    CHECK(e == 0 || e == -ENOTSUP);
    if (e < 0)
        printf("skipped: guards by %s are not supported by this kernel\n",
               fi_stack_guard_name(guard));
    return e == 0;
}

static void guard_kind_is_known(void **state)
{
    static const char *const names[] = {"best", "madvise", "mprotect", "canary"};
    fi_stack_stats stats;

    (void)state;
    for (int kind = 0; kind < FI_STACK_GUARD_KINDS; kind++) {
        CHECK_STR(fi_stack_guard_name((fi_stack_guard)kind), names[kind]);
        if (!guard_works_here((fi_stack_guard)kind))
            continue;
        start((fi_stack_guard)kind, 8);
        fi_stack *s = get();
        fi_stack_guard told = fi_stack_guard_kind(&pool);
        CHECK(told != FI_STACK_GUARD_BEST);
        CHECK(kind == FI_STACK_GUARD_BEST || told == (fi_stack_guard)kind);
        CHECK_INT(s->guard, told);
        fi_stack_pool_stats(&pool, &stats);
        CHECK_INT(stats.guards[told], stats.n_allocated);
        CHECK_INT(stats.fallbacks, 0);
        fi_stack_free(&cache, s, NULL);
        finish();
    }
}

static void write_below(void *arg)
{
    fi_stack *s = arg;

    *(volatile char *)(s->low - 1) = 1;
}

static void guard_stops_a_write(void **state)
{
    struct child_end end;

    (void)state;
    for (int kind = FI_STACK_GUARD_BEST; kind <= FI_STACK_GUARD_PROTECT; kind++) {
        if (!guard_works_here((fi_stack_guard)kind))
            continue;
        start((fi_stack_guard)kind, 2);
        if (fi_stack_guard_kind(&pool) == FI_STACK_GUARD_CANARY) {
            finish();
            continue;
        }
        fi_stack *allocated[5];
        for (int i = 0; i < 5; i++) { /* new stacks, and some without committed memory */
            for (int j = 0; j < 5; j++)
                memset((allocated[j] = get())->low, 1, SIZE);
            CHECK_INT(child_end_of(&end, write_below, allocated[i]), 0);
            CHECK(WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGSEGV);
            for (int j = 0; j < 5; j++)
                fi_stack_free(&cache, allocated[j], NULL);
        }
        finish();
    }
}

static void put_after_overflow(void *arg)
{
    fi_stack *s = get();

    s->low[-1] = 1;
    fi_stack_free(&cache, s, arg);
}

static void canary_is_checked(void **state)
{
    struct child_end end;

    (void)state;
    start(FI_STACK_GUARD_CANARY, 0);
    CHECK_INT(child_end_of(&end, put_after_overflow, "reader 7"), 0);
    CHECK(WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGABRT);
    CHECK_STR(end.text, "filch: stack overflow in fiber \"reader 7\" (stack of 65536 bytes); "
                        "raise stack_size\n");
    CHECK_INT(child_end_of(&end, put_after_overflow, NULL), 0);
    CHECK_STR(end.text, "filch: stack overflow in a fiber without a name (stack of 65536 bytes); "
                        "raise stack_size\n");
    fi_stack *s = get();
    memset(s->low, 0xff, SIZE); /* the whole stack is usable */
    fi_stack_free(&cache, s, NULL);
    finish();
}

/* Each mprotect guard takes mappings of the process, so their number is limited. */
static void guards_by_mprotect_are_limited(void **state)
{
    fi_stack_config config = {
        .stack_size = SIZE, .guard = FI_STACK_GUARD_PROTECT, .protect_max = 10};
    fi_stack_stats stats;
    fi_stack *list;

    (void)state;
    CHECK_INT(fi_stack_pool_init(&pool, &config), 0);
    CHECK_INT(fi_stack_pool_alloc(&pool, &list, 50), 50);
    fi_stack_pool_stats(&pool, &stats);
    CHECK_INT(stats.guards[FI_STACK_GUARD_PROTECT], 10);
    CHECK_INT(stats.guards[FI_STACK_GUARD_CANARY], 40);
    CHECK_INT(stats.fallbacks, 40);
    fi_stack_pool_free(&pool, list);
    fi_stack_pool_fini(&pool);
}

/* --- memory --- */

static size_t resident(const fi_stack *s)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), n = 0;
    unsigned char in[SIZE / 4096];

    CHECK_INT(mincore(s->low, s->size, in), 0);
    for (size_t i = 0; i < s->size / page; i++)
        n += in[i] & 1;
    return n;
}

/* Emulators may not implement mincore: check it with memory that is known to be untouched. */
static bool mincore_works(void)
{
    fi_stack *s = get();
    bool tells = resident(s) == 0;

    fi_stack_free(&cache, s, NULL);
    if (!tells)
        printf("mincore does not work here; only contents are checked\n");
    return tells;
}

static void memory_is_committed_on_touch_and_returned(void **state)
{
    fi_stack *list, *s;

    (void)state;
    start(FI_STACK_GUARD_BEST, 0);
    bool tells = mincore_works();
    CHECK_INT(fi_stack_pool_alloc(&pool, &list, 100), 100);
    for (s = list; s; s = s->next) {
        CHECK(!tells || resident(s) == 0);
        s->low[SIZE - 1] = 42;
        CHECK(!tells || resident(s) == 1);
        memset(s->low, 42, SIZE);
    }
    s = list; /* one stays in use, else the whole slab may be unmapped */
    fi_stack_pool_free(&pool, s ? s->next : NULL);
    CHECK_INT(fi_stack_pool_alloc(&pool, &list, 64), 64);
    for (fi_stack *again = list; again; again = again->next) {
        CHECK(!tells || resident(again) == 0);
        CHECK_INT(again->low[0], 0);
        CHECK_INT(again->low[SIZE - 1], 0);
    }
    fi_stack_pool_free(&pool, list);
    if (s) {
        CHECK_INT(s->low[0], 42);
        s->next = NULL;
    }
    fi_stack_pool_free(&pool, s);
    finish();
}

static void cache_returns_the_newest_first(void **state)
{
    enum { LIMIT = 8, MORE = 20 };
    fi_stack *s[MORE];

    (void)state;
    start(FI_STACK_GUARD_BEST, LIMIT);
    for (int i = 0; i < MORE; i++)
        memset((s[i] = get())->low, 42, SIZE);
    while (cache.n > 0) /* the rest of a refill */
        get();
    for (int i = 0; i <= LIMIT; i++)
        fi_stack_free(&cache, s[i], NULL);
    CHECK_INT(cache.n, LIMIT / 2); /* over the limit: the older half is returned to the pool */
    for (int i = LIMIT; i > LIMIT - LIMIT / 2; i--) {
        CHECK(get() == s[i]); /* last in, first out, with committed memory */
        CHECK_INT(s[i]->low[SIZE - 1], 42);
    }
    CHECK_INT(cache.n, 0);
    free_all_in_use();
    finish();
}

static void cache_stays_within_its_limit(void **state)
{
    enum { N = 100 };
    static const unsigned limits[] = {1, 2, 3, 8, 32};
    fi_stack *s[N];
    fi_stack_stats stats;

    (void)state;
    for (int l = 0; l < 5; l++) {
        start(FI_STACK_GUARD_BEST, limits[l]);
        for (int i = 0; i < N; i++)
            s[i] = get();
        for (int i = 0; i < N; i++) {
            fi_stack_free(&cache, s[i], NULL);
            CHECK(cache.n <= limits[l]);
        }
        fi_stack_pool_stats(&pool, &stats);
        CHECK_INT(stats.n_allocated, cache.n);
        finish();
    }
}

static void empty_slabs_are_unmapped(void **state)
{
    fi_stack_stats full, empty;
    fi_stack *list;

    (void)state;
    start(FI_STACK_GUARD_BEST, 0);
    CHECK_INT(fi_stack_pool_alloc(&pool, &list, 3000), 3000);
    fi_stack_pool_stats(&pool, &full);
    CHECK(full.mapped >= 3000 * SIZE && full.slabs > 2);
    CHECK(full.bookkeeping < 200 * (full.mapped / (SIZE + 4096)));
    fi_stack_pool_free(&pool, list);
    fi_stack_pool_stats(&pool, &empty);
    CHECK_INT(empty.n_allocated, 0);
    CHECK_INT(empty.slabs, 1);
    CHECK(empty.bookkeeping < full.bookkeeping);
    size_t guards = 0;
    for (int i = 0; i < FI_STACK_GUARD_KINDS; i++)
        guards += empty.guards[i];
    CHECK(guards <= empty.mapped / SIZE);
    finish();
}

/* --- several workers --- */

static uint64_t next_random(uint64_t *s)
{
    *s = *s * 6364136223846793005u + 1442695040888963407u;
    return *s >> 33;
}

#define HELD 200

struct worker {
    pthread_t thread;
    uint64_t seed;
    fi_stack_cache cache;
    fi_stack *held[HELD];
};

/* Each user of a stack writes its own mark at both ends, which must not change. */
static void swap_one(struct worker *w)
{
    size_t i = next_random(&w->seed) % HELD;
    fi_stack *s = w->held[i];

    if (s) {
        CHECK(*(struct worker **)s->low == w && ((struct worker **)(s->low + SIZE))[-1] == w);
        fi_stack_free(&w->cache, s, NULL);
        w->held[i] = NULL;
        return;
    }
    CHECK_INT(fi_stack_alloc(&w->cache, &s), 0);
    *(struct worker **)s->low = ((struct worker **)(s->low + SIZE))[-1] = w;
    w->held[i] = s;
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

static void workers_share_a_pool(void **state)
{
    static struct worker workers[4];
    uint64_t seed = seed_get();

    (void)state;
    start(FI_STACK_GUARD_BEST, 0);
    for (int i = 0; i < 4; i++) {
        workers[i].seed = seed + (uint64_t)i;
        CHECK_INT(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < 4; i++)
        CHECK_INT(pthread_join(workers[i].thread, NULL), 0);
    finish();
}

/* --- misuse --- */

static void put_twice(void *arg)
{
    fi_stack *s = get();

    (void)arg;
    fi_stack_free(&cache, s, NULL);
    fi_stack_free(&cache, s, NULL);
}

static void finish_too_early(void *arg)
{
    (void)arg;
    get();
    fi_stack_pool_fini(&pool);
}

/* A second pool, of larger stacks. */
static void start_other(fi_stack_pool *other)
{
    fi_stack_config config = {.stack_size = 2 * SIZE};

    CHECK_INT(fi_stack_pool_init(other, &config), 0);
}

static void put_into_another_cache(void *arg)
{
    fi_stack_pool other;
    fi_stack_cache others;

    (void)arg;
    start_other(&other);
    CHECK_INT(fi_stack_cache_init(&others, &other, 0), 0);
    fi_stack_free(&others, get(), NULL);
}

static void put_into_another_pool(void *arg)
{
    fi_stack_pool other;
    fi_stack *s;

    (void)arg;
    start_other(&other);
    CHECK_INT(fi_stack_pool_alloc(&pool, &s, 1), 1);
    fi_stack_pool_free(&other, s);
}

static void expect_abort(void (*action)(void *), const char *line)
{
    struct child_end end;

    CHECK_INT(child_end_of(&end, action, NULL), 0);
    CHECK(WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGABRT);
    CHECK_STR(end.text, line);
}

static void misuse_aborts_with_a_line(void **state)
{
    static const char *const wrong_pool =
        "filch: fi_stack_free: the stack belongs to another pool\n";

    (void)state;
    start(FI_STACK_GUARD_BEST, 0);
    expect_abort(put_twice, "filch: fi_stack_free: the stack is free already\n");
    expect_abort(put_into_another_cache, wrong_pool);
    expect_abort(put_into_another_pool, wrong_pool);
    expect_abort(finish_too_early, "filch: fi_stack_pool_fini: stacks are still in use\n");
    finish();
}

CHECK_MAIN(bad_sizes_are_refused, bad_limits_are_refused, largest_and_smallest_stacks_work,
           guard_kind_is_known, guard_stops_a_write, canary_is_checked,
           guards_by_mprotect_are_limited, memory_is_committed_on_touch_and_returned,
           cache_returns_the_newest_first, cache_stays_within_its_limit, empty_slabs_are_unmapped,
           workers_share_a_pool, misuse_aborts_with_a_line)
