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
    bool many_without_effect;  /* the call for several ranges returns 0 and installs no guard */
    int no_many;               /* the error of a kernel that takes one range at a time */
    bool half_of_many;         /* a call for several ranges fails after half of them */
    unsigned n_many;           /* calls for several ranges */
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

static int advise_each(const struct iovec *ranges, size_t n, int advice)
{
    int e = 0;

    for (size_t i = 0; i < n && e == 0; i++)
        e = fi_stack_vm_system.advise(NULL, ranges[i].iov_base, ranges[i].iov_len, advice);
    return e;
}

/* Works on kernels without such a call as well. */
static int fault_advise_many(void *ctx, const struct iovec *ranges, size_t n, int advice)
{
    struct fault_vm *k = ctx;

    k->n_many++;
    if (must_fail(k))
        return -ENOMEM;
    if (k->no_many)
        return -k->no_many;
    if (advice == GUARD_INSTALL && (k->takes_any_advice || k->many_without_effect))
        return 0;
    if (advice == GUARD_INSTALL && k->no_guard)
        return -EINVAL;
    if (k->half_of_many)
        return advise_each(ranges, n / 2, advice) == 0 ? -EAGAIN : -EINVAL;
    return advise_each(ranges, n, advice);
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
                                  .advise_many = fault_advise_many,
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

/* In round n the n-th system call fails.  no_many: see struct fault_vm.  Returns the number of
 * rounds. */
static unsigned every_call_fails(fi_stack_guard guard, int no_many, bool and_after)
{
    struct fault_vm k;
    struct pool_use pool_use = {.kernel = &k, .guard = guard};
    unsigned n = 0;
    bool reached;

    do {
        fault_vm_init(&k);
        k.fail_at = ++n;
        k.and_after = and_after;
        k.no_many = no_many;
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
    CHECK(every_call_fails(FI_STACK_GUARD_BEST, 0, false) > 30);
    CHECK(every_call_fails(FI_STACK_GUARD_BEST, ENOSYS, false) > 200);
    CHECK(every_call_fails(FI_STACK_GUARD_PROTECT, 0, false) > 200);
}

static void all_later_system_calls_fail(void **state)
{
    (void)state;
    CHECK(every_call_fails(FI_STACK_GUARD_BEST, 0, true) > 30);
    CHECK(every_call_fails(FI_STACK_GUARD_BEST, ENOSYS, true) > 200);
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

/* --- calls for several stacks --- */

static bool guards_by_madvise_work(void)
{
    struct fault_vm k;

    fault_vm_init(&k);
    if (kind_on(&k, FI_STACK_GUARD_MADVISE) == FI_STACK_GUARD_MADVISE)
        return true;
    printf("skipped: guards by madvise are not supported by this kernel\n");
    return false;
}

static fi_stack *alloc_with_guards(fi_stack_pool *p, unsigned n)
{
    fi_stack_stats stats;
    fi_stack *list;

    CHECK_INT(fi_stack_pool_alloc(p, &list, n), n);
    for (fi_stack *s = list; s; s = s->next) {
        CHECK_INT(s->guard, FI_STACK_GUARD_MADVISE);
        CHECK(!fi_stack_vm_system.readable(NULL, s->low - 1));
        CHECK(!fi_stack_vm_system.readable(NULL, s->low - p->guard_size));
        s->low[0] = s->low[s->size - 1] = 1;
    }
    fi_stack_pool_stats(p, &stats);
    CHECK_INT(stats.guards[FI_STACK_GUARD_MADVISE], stats.n_allocated);
    CHECK_INT(stats.fallbacks, 0);
    return list;
}

/* Free the stacks but one, so that the slab stays mapped, and allocate them again. */
static void check_memory_is_discarded(fi_stack_pool *p, fi_stack *list)
{
    fi_stack *again;

    fi_stack_pool_free(p, list->next);
    list->next = NULL;
    CHECK_INT(fi_stack_pool_alloc(p, &again, 30), 30);
    for (fi_stack *s = again; s; s = s->next) {
        CHECK_INT(s->low[0], 0);
        CHECK_INT(s->low[s->size - 1], 0);
    }
    fi_stack_pool_free(p, again);
    fi_stack_pool_free(p, list);
}

/* Returns the number of calls for several ranges after the probe. */
static unsigned use_many(struct fault_vm *k, void (*change)(struct fault_vm *k))
{
    fi_stack_config config = {.stack_size = SIZE, .vm = &k->vm};
    fi_stack_pool p;

    CHECK_INT(fi_stack_pool_init(&p, &config), 0);
    k->n_many = 0;
    if (change)
        change(k);
    check_memory_is_discarded(&p, alloc_with_guards(&p, 64));
    fi_stack_pool_fini(&p);
    CHECK_INT(k->mapped, 0);
    return k->n_many;
}

static void one_call_advises_many_stacks(void **state)
{
    struct fault_vm k;

    (void)state;
    if (!guards_by_madvise_work())
        return;
    fault_vm_init(&k);
    CHECK_INT(use_many(&k, NULL), 5); /* guards, memory of 63 stacks, memory of 30 stacks */
}

static void many_is_not_used_if_the_probe_fails(void **state)
{
    static const int errors[] = {ENOSYS, EPERM, EINVAL, EBADF};
    struct fault_vm k;

    (void)state;
    if (!guards_by_madvise_work())
        return;
    for (int i = 0; i < 4; i++) {
        fault_vm_init(&k);
        k.no_many = errors[i];
        CHECK_INT(use_many(&k, NULL), 0);
    }
    fault_vm_init(&k);
    k.many_without_effect = true; /* returns 0 and installs no guard */
    CHECK_INT(use_many(&k, NULL), 0);
}

static void refuse_many(struct fault_vm *k)
{
    k->no_many = EPERM;
}

static void advise_half_of_many(struct fault_vm *k)
{
    k->half_of_many = true;
}

/* A filter was installed later, or the kernel had no memory for page tables. */
static void many_fails_later(void **state)
{
    struct fault_vm k;

    (void)state;
    if (!guards_by_madvise_work())
        return;
    fault_vm_init(&k);
    CHECK_INT(use_many(&k, refuse_many), 1);
    fault_vm_init(&k);
    CHECK_INT(use_many(&k, advise_half_of_many), 1);
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
           madvise_fails_later, one_call_advises_many_stacks, many_is_not_used_if_the_probe_fails,
           many_fails_later, a_slab_that_cannot_be_unmapped_is_reused,
           slabs_are_small_if_large_mappings_fail, overflow_handler_without_memory)
