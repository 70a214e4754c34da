/* Every allocation of a sort or a scan fails once.  The result is still right, and a stable sort is
 * still stable.  Allocations of the runtime itself do not fail here: see sched_fault. */
#include "unit/algo/elements.h"
#include "unit/task/helpers.h"

#include <filch/filch.h>

#define MANY (IS_SLOW ? 20000 : 40000) /* enough to be scattered */

static fi_rng rng;

/* ---- an allocator that fails ---- */

static struct {
    atomic_bool armed;
    atomic_uint n_allocations;
    unsigned fail_at; /* 1 is the first since it was armed */
    bool and_after;
    size_t too_large; /* larger requests always fail; 0: none */
} memory;

static bool refuses(size_t size)
{
    unsigned n_allocations;

    if (!atomic_load(&memory.armed))
        return false;
    n_allocations = atomic_fetch_add(&memory.n_allocations, 1) + 1;
    if (memory.too_large > 0 && size >= memory.too_large)
        return true;
    return memory.fail_at > 0 &&
           (memory.and_after ? n_allocations >= memory.fail_at : n_allocations == memory.fail_at);
}

static void *give(void *ctx, size_t size, size_t align)
{
    void *p = NULL;

    (void)ctx;
    if (!refuses(size)) {
        p = aligned_alloc(align, (size + align - 1) / align * align);
        if (!p)
            abort();
        memset(p, 0xcd, size);
    }
    return p;
}

static void take(void *ctx, void *p, size_t size, size_t align)
{
    (void)ctx, (void)align;
    memset(p, 0xdd, size);
    free(p);
}

static void arm(unsigned fail_at, bool and_after, size_t too_large)
{
    atomic_store(&memory.n_allocations, 0);
    memory.fail_at = fail_at;
    memory.and_after = and_after;
    memory.too_large = too_large;
    atomic_store(&memory.armed, true);
}

static void nothing(size_t lo, size_t hi, void *ctx)
{
    (void)lo, (void)hi, (void)ctx;
}

/* Start, and let the runtime allocate what it needs. */
static void start(unsigned workers)
{
    CHECK_INT(filch_set_allocator(&(filch_allocator){give, take, NULL}), 0);
    CHECK_INT(filch_start(&(filch_config){.workers = workers}), 0);
    filch_for(0, 1, 1, nothing, NULL);
}

static void stop(void)
{
    atomic_store(&memory.armed, false);
    CHECK_INT(filch_stop(), 0);
    CHECK_INT(filch_set_allocator(NULL), 0); /* all memory was freed */
}

/* ---- sorts ---- */

typedef struct request {
    unsigned workers;
    size_t n, size;
    int pattern;
    bool stable;
} request;

/* Number of allocations that the sort requests. */
static unsigned sort_elements(request r, unsigned fail_at, bool and_after, size_t too_large)
{
    elements *e = elements_new(r.n, r.size, 0);

    start(r.workers);
    elements_lay(e, r.pattern, &rng);
    arm(fail_at, and_after, too_large);
    CHECK_INT(
        (r.stable ? filch_sort_stable : filch_sort)(e->base, r.n, r.size, elements_compare, e), 0);
    stop();
    CHECK(r.stable ? elements_stable(e) : elements_sorted(e));
    elements_free(e);
    return atomic_load(&memory.n_allocations);
}

/* The same when none fails. */
static unsigned fail_each(request r)
{
    unsigned n_allocations = sort_elements(r, 0, false, 0);

    for (unsigned n = 1; sort_elements(r, n, false, 0) >= n; n++)
        sort_elements(r, n, true, 0);
    return n_allocations;
}

static void sorts_without_memory(void **state)
{
    static const size_t sizes[] = {1, 4, 8, 12, 100};

    (void)state;
    fi_rng_seed(&rng, 46);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int pattern = 0; pattern < PATTERNS; pattern += IS_SLOW ? 2 : 1)
            for (int stable = 0; stable < 2; stable++)
                fail_each((request){1, 3000, sizes[i], pattern, stable});
}

/* Scratch memory and offsets; for other sizes also pointers and copies. */
static void large_sorts_without_memory(void **state)
{
    (void)state;
    fi_rng_seed(&rng, 47);
    for (int stable = 0; stable < 2; stable++) {
        CHECK_INT(fail_each((request){1, MANY, 4, SORTED, stable}), 0);
        CHECK_INT(fail_each((request){1, MANY, 4, RANDOM, stable}), 2);
        CHECK_INT(fail_each((request){1, MANY, 3, RANDOM, stable}), 4);
    }
}

/* Several workers, which allocate themselves, sort in place. */
static void parallel_sorts_without_memory(void **state)
{
    (void)state;
    fi_rng_seed(&rng, 48);
    for (int stable = 0; stable < 2; stable++)
        for (int pattern = 0; pattern < PATTERNS; pattern++) {
            sort_elements((request){4, MANY, 4, pattern, stable}, 0, false, MANY);
            sort_elements((request){4, MANY, 7, pattern, stable}, 0, false, MANY);
        }
}

static void number_sorts_without_memory(void **state)
{
    static double v[40000];

    (void)state;
    for (unsigned fail_at = 1; fail_at <= 3; fail_at++) {
        start(1);
        for (int i = 0; i < 40000; i++)
            v[i] = 1.0 / (1.0 + (double)fi_rng_below(&rng, 1000000));
        arm(fail_at, false, 0);
        CHECK_INT(filch_sort(v, 40000, sizeof *v, filch_compare_double, NULL), 0);
        stop();
        for (int i = 1; i < 40000; i++)
            CHECK(v[i - 1] <= v[i]);
    }
}

/* ---- a scan ---- */

#define NUMBERS 50000

static double number[NUMBERS], sums[2][NUMBERS];

static void add_up(size_t lo, size_t hi, void *acc, void *ctx)
{
    (void)ctx;
    for (; lo < hi; lo++)
        *(double *)acc += number[lo];
}

static void add(void *acc, const void *other, void *ctx)
{
    (void)ctx;
    *(double *)acc += *(const double *)other;
}

static void write_sums(size_t lo, size_t hi, void *acc, void *ctx)
{
    double *to = ctx;

    for (; lo < hi; lo++)
        to[lo] = *(double *)acc += number[lo];
}

/* Without memory one worker computes the scan, with the same bits. */
static void scans_without_memory(void **state)
{
    (void)state;
    for (int i = 0; i < NUMBERS; i++)
        number[i] = 1.0 / (i + 1);
    for (int without = 0; without < 2; without++) {
        double sum = 0, zero = 0;

        start(2);
        arm(without ? 1 : 0, true, 0);
        CHECK_INT(filch_scan(0, NUMBERS, 0, &sum, &zero, sizeof sum, add_up, add, write_sums,
                             sums[without]),
                  0);
        CHECK(atomic_load(&memory.n_allocations) > 0);
        stop();
    }
    for (int i = 0; i < NUMBERS; i++)
        CHECK(sums[0][i] == sums[1][i]);
}

CHECK_MAIN(scans_without_memory, sorts_without_memory, large_sorts_without_memory,
           parallel_sorts_without_memory, number_sorts_without_memory)
