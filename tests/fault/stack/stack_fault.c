/* Stacks without memory: every allocation and every system call fails once.  A failed call changes
 * nothing. */
#include "base/mem.h"
#include "check.h"
#include "fault/inject.h"
#include "stack/overflow.h"
#include "stack/stack.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>

#define SIZE ((size_t)65536)

#define GUARD_INSTALL 102

/* --- system calls that fail on demand --- */

#define REFUSED_MAX 64

struct region {
    void *at;
    size_t bytes;
};

struct fault_vm {
    fi_stack_vm vm;
    unsigned calls, fail_at; /* the fail_at-th call fails */
    bool and_after;
    bool takes_any_advice;     /* madvise returns 0 and does nothing, as in some emulators */
    bool no_guard, no_protect; /* a kernel without this feature */
    bool hides_all;            /* no page can be read: every guard seems to work */
    size_t mapped;             /* bytes not unmapped yet */
    size_t refused_bytes;      /* of these: bytes for which unmap was refused */
    size_t refusals;
    struct region refused[REFUSED_MAX];
};

static bool must_fail(struct fault_vm *k)
{
    unsigned n = ++k->calls;

    return n == k->fail_at || (k->and_after && k->fail_at > 0 && n > k->fail_at);
}

static int fault_map(void *ctx, size_t bytes, void **at)
{
    struct fault_vm *k = ctx;

    if (must_fail(k))
        return -ENOMEM;
    int e = fi_stack_vm_system.map(NULL, bytes, at);
    k->mapped += e == 0 ? bytes : 0;
    return e;
}

static void forget_refused(struct fault_vm *k, const void *at)
{
    for (size_t i = 0; i < k->refusals; i++)
        if (k->refused[i].at == at) {
            k->refused_bytes -= k->refused[i].bytes;
            k->refused[i] = k->refused[--k->refusals];
            return;
        }
}

static int refuse(struct fault_vm *k, void *at, size_t bytes)
{
    forget_refused(k, at);
    CHECK(k->refusals < REFUSED_MAX);
    k->refused[k->refusals++] = (struct region){at, bytes};
    k->refused_bytes += bytes;
    return -ENOMEM;
}

static int fault_unmap(void *ctx, void *at, size_t bytes)
{
    struct fault_vm *k = ctx;

    if (must_fail(k))
        return refuse(k, at, bytes);
    forget_refused(k, at);
    int e = fi_stack_vm_system.unmap(NULL, at, bytes);
    k->mapped -= e == 0 ? bytes : 0;
    return e;
}

/* All mappings are unmapped, except those for which unmap was refused. */
static void check_all_unmapped(struct fault_vm *k)
{
    CHECK_INT(k->mapped, k->refused_bytes);
    while (k->refusals > 0) {
        struct region r = k->refused[k->refusals - 1];

        k->fail_at = 0;
        CHECK_INT(fault_unmap(k, r.at, r.bytes), 0);
    }
    CHECK_INT(k->mapped, 0);
    CHECK_INT(fi_mem_live().blocks, 0);
}

static int fault_advise(void *ctx, void *at, size_t bytes, int advice)
{
    struct fault_vm *k = ctx;

    if (must_fail(k))
        return -ENOMEM;
    if (advice == GUARD_INSTALL && k->takes_any_advice)
        return 0;
    if (advice == GUARD_INSTALL && k->no_guard)
        return -EINVAL;
    return fi_stack_vm_system.advise(NULL, at, bytes, advice);
}

static int fault_protect(void *ctx, void *at, size_t bytes)
{
    struct fault_vm *k = ctx;

    if (must_fail(k) || k->no_protect)
        return -ENOMEM;
    return fi_stack_vm_system.protect(NULL, at, bytes);
}

static bool fault_readable(void *ctx, const void *at)
{
    struct fault_vm *k = ctx;

    return !k->hides_all && fi_stack_vm_system.readable(NULL, at);
}

static void fault_vm_init(struct fault_vm *k)
{
    *k = (struct fault_vm){.vm = {.map = fault_map,
                                  .unmap = fault_unmap,
                                  .advise = fault_advise,
                                  .protect = fault_protect,
                                  .readable = fault_readable}};
    k->vm.ctx = k;
}

/* --- all operations of a pool --- */

struct pool_use {
    struct fault_vm *kernel;
    fi_stack_guard guard;
};

static int alloc_and_free(fi_stack_pool *p)
{
    fi_stack_cache c;
    fi_stack *held[200];
    int n = 0, e = fi_stack_cache_init(&c, p, 16);

    while (e == 0 && n < 200) {
        e = fi_stack_alloc(&c, &held[n]);
        if (e == 0)
            held[n++]->low[SIZE - 1] = 1;
    }
    while (n > 0)
        fi_stack_free(&c, held[--n], NULL);
    fi_stack_cache_fini(&c);
    return e;
}

static int use_pool(void *arg)
{
    struct pool_use *pool_use = arg;
    fi_stack_config config = {.stack_size = SIZE, .guard = pool_use->guard};
    fi_stack_pool p;

    config.vm = &pool_use->kernel->vm;
    int e = fi_stack_pool_init(&p, &config);
    if (e < 0)
        return e;
    e = alloc_and_free(&p);
    fi_stack_stats stats;
    fi_stack_pool_stats(&p, &stats);
    CHECK_INT(stats.n_allocated, 0);
    fi_stack_pool_fini(&p);
    return e;
}

/* No system call fails here; mappings are counted. */
static int use_pool_and_check(void *arg)
{
    struct fault_vm *k = arg;
    int e = use_pool(&(struct pool_use){.kernel = k});

    CHECK_INT(k->mapped, 0);
    return e;
}

static void every_allocation_fails_once(void **state)
{
    struct fault_vm k;

    (void)state;
    fault_vm_init(&k);
    CHECK(inject_every(use_pool_and_check, &k) >= 6); /* three slabs and their records */
}

/* In round n the n-th system call fails.  Returns the number of rounds. */
static unsigned every_call_fails(fi_stack_guard guard, bool and_after)
{
    struct fault_vm k;
    struct pool_use pool_use = {.kernel = &k, .guard = guard};
    unsigned n = 0;
    bool reached;

    do {
        fault_vm_init(&k);
        k.fail_at = ++n;
        k.and_after = and_after;
        int e = use_pool(&pool_use);
        reached = k.calls >= n;
        CHECK(e == 0 || e == -ENOMEM || (n <= 2 && e == -ENOTSUP));
        CHECK(reached || e == 0);
        check_all_unmapped(&k);
    } while (reached);
    return n;
}

static void every_system_call_fails_once(void **state)
{
    (void)state;
    CHECK(every_call_fails(FI_STACK_GUARD_BEST, false) > 200);
    CHECK(every_call_fails(FI_STACK_GUARD_PROTECT, false) > 200);
}

static void all_later_system_calls_fail(void **state)
{
    (void)state;
    CHECK(every_call_fails(FI_STACK_GUARD_BEST, true) > 200);
}

/* --- kernels without a feature --- */

static int kind_on(struct fault_vm *k, fi_stack_guard wanted)
{
    fi_stack_config config = {.stack_size = SIZE, .guard = wanted, .vm = &k->vm};
    fi_stack_pool p;
    int e = fi_stack_pool_init(&p, &config);

    if (e < 0)
        return e;
    fi_stack_guard kind = fi_stack_guard_kind(&p);
    fi_stack_pool_fini(&p);
    CHECK_INT(k->mapped, 0);
    return (int)kind;
}

static void older_kernels_get_weaker_guards(void **state)
{
    struct fault_vm k;

    (void)state;
    fault_vm_init(&k);
    k.no_guard = true; /* before Linux 6.13 */
    CHECK_INT(kind_on(&k, FI_STACK_GUARD_BEST), FI_STACK_GUARD_PROTECT);
    CHECK_INT(kind_on(&k, FI_STACK_GUARD_MADVISE), -ENOTSUP);
    k.no_protect = true;
    CHECK_INT(kind_on(&k, FI_STACK_GUARD_BEST), FI_STACK_GUARD_CANARY);
    CHECK_INT(kind_on(&k, FI_STACK_GUARD_PROTECT), -ENOTSUP);
    CHECK_INT(kind_on(&k, FI_STACK_GUARD_CANARY), FI_STACK_GUARD_CANARY);
}

static void madvise_without_effect_is_detected(void **state)
{
    struct fault_vm k;

    (void)state;
    fault_vm_init(&k);
    k.takes_any_advice = true;
    CHECK_INT(kind_on(&k, FI_STACK_GUARD_BEST), FI_STACK_GUARD_PROTECT);
}

/* At the limit of mappings each further guard is a canary, and no call fails. */
static void protect_fails_later(void **state)
{
    struct fault_vm k;
    fi_stack_config config = {.stack_size = SIZE, .guard = FI_STACK_GUARD_PROTECT, .vm = &k.vm};
    fi_stack_pool p;
    fi_stack_stats stats;
    fi_stack *few, *more;

    (void)state;
    fault_vm_init(&k);
    CHECK_INT(fi_stack_pool_init(&p, &config), 0);
    CHECK_INT(fi_stack_pool_alloc(&p, &few, 10), 10);
    k.no_protect = true;
    CHECK_INT(fi_stack_pool_alloc(&p, &more, 20), 20);
    fi_stack_pool_stats(&p, &stats);
    CHECK_INT(stats.guards[FI_STACK_GUARD_PROTECT], 10);
    CHECK_INT(stats.guards[FI_STACK_GUARD_CANARY], 20);
    CHECK_INT(stats.fallbacks, 20);
    fi_stack_pool_free(&p, few);
    fi_stack_pool_free(&p, more);
    fi_stack_pool_fini(&p);
    CHECK_INT(k.mapped, 0);
}

/* The probe found that madvise works.  If it fails later, the number of mprotect guards is limited
 * as well. */
static void madvise_fails_later(void **state)
{
    struct fault_vm k;
    fi_stack_config config = {.stack_size = SIZE, .protect_max = 10, .vm = &k.vm};
    fi_stack_pool p;
    fi_stack_stats stats;
    fi_stack *list;

    (void)state;
    fault_vm_init(&k);
    k.takes_any_advice = k.hides_all = true; /* so that this runs on every kernel */
    CHECK_INT(fi_stack_pool_init(&p, &config), 0);
    CHECK_INT(fi_stack_guard_kind(&p), FI_STACK_GUARD_MADVISE);
    k.takes_any_advice = false;
    k.no_guard = true;
    CHECK_INT(fi_stack_pool_alloc(&p, &list, 50), 50);
    fi_stack_pool_stats(&p, &stats);
    CHECK_INT(stats.guards[FI_STACK_GUARD_MADVISE], 0);
    CHECK_INT(stats.guards[FI_STACK_GUARD_PROTECT], 10);
    CHECK_INT(stats.guards[FI_STACK_GUARD_CANARY], 40);
    CHECK_INT(stats.fallbacks, 50);
    fi_stack_pool_free(&p, list);
    fi_stack_pool_fini(&p);
    CHECK_INT(k.mapped, 0);
}

/* A slab for which unmap fails is reused, and unmapped in the end. */
static void a_slab_that_cannot_be_unmapped_is_reused(void **state)
{
    struct fault_vm k;
    fi_stack_config config = {.stack_size = SIZE, .vm = &k.vm};
    fi_stack_pool p;
    fi_stack_stats full, after;
    fi_stack *list;

    (void)state;
    fault_vm_init(&k);
    CHECK_INT(fi_stack_pool_init(&p, &config), 0);
    CHECK_INT(fi_stack_pool_alloc(&p, &list, 400), 400);
    fi_stack_pool_stats(&p, &full);
    k.fail_at = k.calls + 1;
    k.and_after = true;
    fi_stack_pool_free(&p, list);
    fi_stack_pool_stats(&p, &after);
    CHECK_INT(after.slabs, full.slabs);
    CHECK_INT(after.mapped, full.mapped);
    CHECK_INT(after.guards[fi_stack_guard_kind(&p)], full.guards[fi_stack_guard_kind(&p)]);
    CHECK_INT(fi_stack_pool_alloc(&p, &list, 400), 400); /* no new slab was needed */
    fi_stack_pool_free(&p, list);
    fi_stack_pool_stats(&p, &after);
    CHECK_INT(after.slabs, full.slabs);
    k.fail_at = 0;
    fi_stack_pool_fini(&p);
    CHECK_INT(k.mapped, 0);
    check_all_unmapped(&k);
}

/* If only small mappings succeed, the slabs are small. */
static int map_only_small(void *ctx, size_t bytes, void **at)
{
    return bytes > 8 * SIZE ? -ENOMEM : fault_map(ctx, bytes, at);
}

static void slabs_are_small_if_large_mappings_fail(void **state)
{
    struct fault_vm k;
    struct pool_use pool_use = {.kernel = &k};

    (void)state;
    fault_vm_init(&k);
    k.vm.map = map_only_small;
    CHECK_INT(use_pool(&pool_use), 0);
    CHECK_INT(k.mapped, 0);
}

/* --- the overflow handler --- */

static int install_once(void *arg)
{
    fi_overflow_handler w = {0};

    (void)arg;
    int e = fi_overflow_handler_enter(&w);
    fi_overflow_handler_fini(&w);
    return e;
}

static void overflow_handler_without_memory(void **state)
{
    stack_t before, after;

    (void)state;
    sigaltstack(NULL, &before);
    CHECK_INT(inject_every(install_once, NULL), 1);
    sigaltstack(NULL, &after);
    CHECK(before.ss_sp == after.ss_sp && before.ss_flags == after.ss_flags);
}

CHECK_MAIN(every_allocation_fails_once, every_system_call_fails_once, all_later_system_calls_fail,
           older_kernels_get_weaker_guards, madvise_without_effect_is_detected, protect_fails_later,
           madvise_fails_later, a_slab_that_cannot_be_unmapped_is_reused,
           slabs_are_small_if_large_mappings_fail, overflow_handler_without_memory)
