/* Many stacks at once, each with a guard, each touched. */
#include "base/mem.h"
#include "check.h"
#include "child.h"
#include "ctx/ctx.h"
#include "stack/stack.h"

#include <stdbool.h>

#define SIZE ((size_t)65536)
#define MANY (FI_CTX_SANITIZED ? (size_t)5000 : (size_t)50000)

static size_t resident_pages(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    unsigned long total, resident;

    CHECK(f != NULL);
    CHECK_INT(fscanf(f, "%lu %lu", &total, &resident), 2);
    fclose(f);
    return resident;
}

static fi_stack **alloc_all(fi_stack_cache *c, size_t n)
{
    fi_stack **s = malloc(n * sizeof(fi_stack *));

    if (!s)
        abort();
    memset(s, 0xff,
           n * sizeof(fi_stack *)); /* touch it now: its pages are not part of the measurement */
    for (size_t i = 0; i < n; i++) {
        CHECK_INT(fi_stack_alloc(c, &s[i]), 0);
        *(size_t *)(s[i]->low + SIZE - 64) = i;
    }
    return s;
}

static void check_and_free_all(fi_stack_cache *c, fi_stack **s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        CHECK(*(size_t *)(s[i]->low + SIZE - 64) == i);
        fi_stack_free(c, s[i], NULL);
    }
    free(s);
}

static void check_guards(const fi_stack_pool *p, const fi_stack_stats *stats)
{
    size_t madvise = stats->guards[FI_STACK_GUARD_MADVISE];
    size_t protect = stats->guards[FI_STACK_GUARD_PROTECT];
    size_t canary = stats->guards[FI_STACK_GUARD_CANARY];

    printf("guards: %zu madvise, %zu mprotect, %zu canary\n", madvise, protect, canary);
    CHECK_INT(madvise + protect + canary, stats->n_allocated);
    if (p->guard == FI_STACK_GUARD_MADVISE)
        CHECK_INT(madvise, stats->n_allocated);
    if (p->guard == FI_STACK_GUARD_PROTECT)
        CHECK_INT(stats->fallbacks, canary);
}

static bool memory_can_be_counted(void)
{
#ifdef UNDER_EMULATOR
    printf("resident memory is not checked: the emulator uses memory of its own\n");
    return false;
#else
    if (FI_CTX_SANITIZED)
        printf("resident memory is not checked: the sanitizer uses memory of its own\n");
    return !FI_CTX_SANITIZED;
#endif
}

static void many_stacks_cost_a_page_each(void **state)
{
    fi_stack_config config = {.stack_size = SIZE};
    fi_stack_pool pool;
    fi_stack_cache cache;
    fi_stack_stats stats;

    (void)state;
    CHECK_INT(fi_stack_pool_init(&pool, &config), 0);
    CHECK_INT(fi_stack_cache_init(&cache, &pool, 0), 0);
    size_t before = resident_pages();
    fi_stack **s = alloc_all(&cache, MANY);
    size_t during = resident_pages();
    fi_stack_pool_stats(&pool, &stats);
    check_guards(&pool, &stats);
    printf("%zu stacks: %.1f bytes of records each\n", MANY, (double)stats.bookkeeping / MANY);
    CHECK(stats.bookkeeping / MANY < 200);
    bool counted = memory_can_be_counted();
    if (counted) {
        size_t bytes = (during - before) * pool.page / MANY;

        printf("%zu resident bytes each\n", bytes);
        CHECK(bytes < pool.page + 200);
    }
    check_and_free_all(&cache, s, MANY);
    size_t after = resident_pages();
    if (counted)
        CHECK(after < before + (during - before) / 20);
    fi_stack_cache_fini(&cache);
    fi_stack_pool_fini(&pool);
    CHECK_INT(fi_mem_live().blocks, 0);
}

static long map_limit(void)
{
    FILE *f = fopen("/proc/sys/vm/max_map_count", "r");
    long limit = 0;

    if (f && fscanf(f, "%ld", &limit) != 1)
        limit = 0;
    if (f)
        fclose(f);
    return limit;
}

/* In a child process, because little works when no mappings are left. */
static void reach_the_mapping_limit(void *arg)
{
    fi_stack_config config = {
        .stack_size = 8192, .guard = FI_STACK_GUARD_PROTECT, .protect_max = SIZE_MAX};
    fi_stack_pool pool;
    fi_stack *all = NULL, *list;
    fi_stack_stats stats;
    size_t n = 0, wanted = *(size_t *)arg;

    if (fi_stack_pool_init(&pool, &config) != 0)
        _exit(2);
    while (n < wanted && fi_stack_pool_alloc(&pool, &list, 1) == 1) {
        list->low[8191] = 1;
        list->next = all;
        all = list;
        n++;
    }
    fi_stack_pool_stats(&pool, &stats);
    if (stats.n_allocated != n || stats.guards[FI_STACK_GUARD_CANARY] == 0 ||
        stats.guards[FI_STACK_GUARD_CANARY] != stats.fallbacks)
        _exit(3);
    fi_stack_pool_free(&pool, all);
    fi_stack_pool_fini(&pool);
    _exit(fi_mem_live().blocks == 0 ? 0 : 4);
}

static void canaries_replace_guards_at_the_mapping_limit(void **state)
{
    struct child_end end;
    long limit = map_limit();
    size_t wanted = (size_t)limit;

    (void)state;
    if (limit <= 0 || limit > 200000 || FI_CTX_SANITIZED) {
        printf("skipped: canaries_replace_guards_at_the_mapping_limit: the limit is %s\n",
               FI_CTX_SANITIZED ? "needed by the sanitizer" : "unknown or very high");
        return;
    }
    CHECK_INT(child_end_of(&end, reach_the_mapping_limit, &wanted), 0);
    CHECK_STR(end.text, "");
    CHECK(WIFEXITED(end.status));
    CHECK_INT(WEXITSTATUS(end.status), 0);
}

CHECK_MAIN(many_stacks_cost_a_page_each, canaries_replace_guards_at_the_mapping_limit)
