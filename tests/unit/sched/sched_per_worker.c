/* The index of the calling worker, and per-worker data. */
#include "child.h"
#include "unit/fiber/helpers.h"

#include <inttypes.h>
#include <limits.h>

enum { THREADS = 4 };

/* ---- the index ---- */

FILCH_TASK(int, index_of_task)
{
    return filch_worker_index();
}

static void *index_of_fiber(void *arg)
{
    (void)arg;
    for (int i = 0; i < 10; i++) {
        filch_yield();
        if (filch_worker_index() < 0)
            return (void *)-1;
    }
    return (void *)(intptr_t)filch_worker_index();
}

static bool is_index(intptr_t index)
{
    return index >= 0 && index < (intptr_t)filch_worker_count();
}

static int64_t index_of_blocking(void *arg)
{
    (void)arg;
    return filch_worker_index();
}

static void *index_in_blocking(void *arg)
{
    (void)arg;
    return (void *)(intptr_t)filch_run_blocking(index_of_blocking, NULL);
}

static void index_everywhere(void)
{
    CHECK_INT(filch_worker_index(), -1);
    CHECK(is_index(FILCH_RUN(index_of_task))); /* in this thread, as a worker */
    CHECK_INT(filch_worker_index(), -1);
    CHECK(is_index(join(filch_fiber_start(index_of_fiber, NULL))));
    CHECK_INT(join(filch_fiber_start(index_in_blocking, NULL)), -1);
}

static void test_index(void **state)
{
    (void)state;
    CHECK_INT(filch_worker_index(), -1);
    workers_each(NULL, index_everywhere);
    CHECK_INT(filch_worker_index(), -1);
}

/* A loop in which the compiler could keep the address of a thread-local variable. */
static void *index_is_of_this_thread(void *arg)
{
    (void)arg;
    for (int i = 0; i < SCALED(5000); i++) {
        const fi_worker *w = fi_worker_self();
        if (filch_worker_index() != (int)w->index)
            return (void *)1;
        filch_yield();
    }
    return NULL;
}

static void many_fibers_ask(void)
{
    filch_fiber *f[16];

    for (int i = 0; i < 16; i++)
        f[i] = filch_fiber_start(index_is_of_this_thread, NULL);
    for (int i = 0; i < 16; i++)
        CHECK_INT(join(f[i]), 0);
}

static void test_index_after_switches(void **state)
{
    (void)state;
    workers_each(NULL, many_fibers_ask);
}

/* ---- data ---- */

typedef struct tally {
    uint64_t sum;
    unsigned inits;
} tally;

static atomic_int n_inits, n_finis;

static void tally_init(void *object, void *ctx)
{
    tally *t = object;

    if (t->sum != 0 || t->inits != 0 || (uintptr_t)object % 128 != 0)
        abort();
    t->inits++;
    atomic_fetch_add((atomic_int *)ctx, 1);
}

static void tally_fini(void *object, void *ctx)
{
    (void)ctx;
    if (((tally *)object)->inits != 1)
        abort();
    atomic_fetch_add(&n_finis, 1);
}

static filch_per_worker *tally_new(void)
{
    atomic_store(&n_inits, 0);
    atomic_store(&n_finis, 0);
    return filch_per_worker_new(sizeof(tally), tally_init, tally_fini, &n_inits);
}

typedef struct total {
    uint64_t sum;
    int n;
} total;

static void total_add(void *object, void *ctx)
{
    total *t = ctx;

    t->sum += ((const tally *)object)->sum;
    t->n++;
}

static total total_of(filch_per_worker *p)
{
    total t = {0, 0};

    filch_per_worker_each(p, total_add, &t);
    return t;
}

static void add_range(size_t from, size_t to, void *p)
{
    for (size_t i = from; i < to; i++) {
        tally *t = filch_per_worker_get(p);
        t->sum += i;
    }
}

static void *add_as_thread(void *p)
{
    add_range(0, 100, p);
    return NULL;
}

/* Also threads that are not workers. */
static void sum_in_parallel(void)
{
    size_t n = (size_t)SCALED(100000);
    filch_per_worker *p = tally_new();
    pthread_t threads[THREADS];
    total t;

    CHECK(p);
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, add_as_thread, p), 0);
    filch_for(0, n, 100, add_range, p);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    t = total_of(p);
    CHECK_INT(t.sum, n * (n - 1) / 2 + THREADS * (99L * 100 / 2));
    CHECK(t.n > THREADS && t.n <= THREADS + (int)filch_worker_count());
    CHECK_INT(atomic_load(&n_inits), t.n);
    filch_per_worker_free(p);
    CHECK_INT(atomic_load(&n_finis), t.n);
}

static void test_sum(void **state)
{
    (void)state;
    workers_each(NULL, sum_in_parallel);
}

/* ---- stop and restart ---- */

static void *count_here(void *p)
{
    int index = filch_worker_index();
    tally *t = filch_per_worker_get(p);

    t->sum++;
    return (void *)(intptr_t)index;
}

static void count_on_workers(filch_per_worker *p, unsigned workers, int n)
{
    filch_config c = {.workers = workers};

    CHECK_INT(filch_start(&c), 0);
    for (int i = 0; i < n; i++)
        CHECK(is_index(join(filch_fiber_start(count_here, p))));
    CHECK_INT(filch_stop(), 0);
}

static void test_restart(void **state)
{
    filch_per_worker *p = tally_new();
    total t;

    (void)state;
    CHECK(p);
    count_on_workers(p, 1, 10);
    t = total_of(p);
    CHECK_INT(t.n, 1);
    CHECK_INT(t.sum, 10);
    count_on_workers(p, 8, 1000);
    count_on_workers(p, 1, 10);
    t = total_of(p);
    CHECK(t.n >= 1 && t.n <= 8);
    CHECK_INT(t.sum, 1020);
    filch_per_worker_free(p);
    CHECK_INT(atomic_load(&n_finis), t.n);
}

/* ---- init that waits ---- */

static void waiting_init(void *object, void *ctx)
{
    for (int i = 0; i < 20; i++)
        filch_yield();
    tally_init(object, ctx);
}

static void *get_waiting(void *arg)
{
    return filch_per_worker_get(arg) ? NULL : (void *)1;
}

static void init_may_move(void)
{
    filch_per_worker *p;
    filch_fiber *f[32];
    int n;

    atomic_store(&n_inits, 0);
    atomic_store(&n_finis, 0);
    p = filch_per_worker_new(sizeof(tally), waiting_init, tally_fini, &n_inits);
    CHECK(p);
    for (int i = 0; i < 32; i++)
        f[i] = filch_fiber_start(get_waiting, p);
    for (int i = 0; i < 32; i++)
        CHECK_INT(join(f[i]), 0);
    n = total_of(p).n;
    CHECK(n >= 1 && n <= (int)filch_worker_count());
    CHECK_INT(atomic_load(&n_inits) - atomic_load(&n_finis), n);
    filch_per_worker_free(p);
    CHECK_INT(atomic_load(&n_inits), atomic_load(&n_finis));
}

static void test_init_that_waits(void **state)
{
    (void)state;
    workers_each(NULL, init_may_move);
}

/* ---- arguments ---- */

static void get_in_visit(void *object, void *ctx)
{
    filch_per_worker *p = ctx;

    if (filch_per_worker_get(p) != object)
        abort();
}

/* The objects of a stopped runtime, and none at all. */
static void test_without_runtime(void **state)
{
    filch_per_worker *p = filch_per_worker_new(1, NULL, NULL, NULL);
    char *mine;

    (void)state;
    CHECK(p);
    CHECK_INT(total_of(p).n, 0);
    mine = filch_per_worker_get(p);
    CHECK(mine && *mine == 0);
    *mine = 1;
    CHECK(filch_per_worker_get(p) == mine);
    filch_per_worker_each(p, get_in_visit, p);
    filch_per_worker_free(p);
    filch_per_worker_free(NULL);
    filch_per_worker_each(NULL, total_add, NULL);
    CHECK(!filch_per_worker_get(NULL));
}

static void wrong_sizes(void *arg)
{
    (void)arg;
    if (filch_per_worker_new(0, NULL, NULL, NULL) ||
        filch_per_worker_new(SIZE_MAX, NULL, NULL, NULL) ||
        filch_per_worker_new(SIZE_MAX - 100, NULL, NULL, NULL))
        _exit(1);
}

static void test_wrong_sizes(void **state)
{
    struct child_end end;

    (void)state;
    CHECK_INT(child_end_of(&end, wrong_sizes, NULL), 0);
    CHECK(WIFEXITED(end.status) && WEXITSTATUS(end.status) == 0);
    CHECK(strstr(end.text, "filch: filch_per_worker_new: size is 0 (0); use 1 to "));
    CHECK(
        strstr(end.text, "filch: filch_per_worker_new: size is too large (18446744073709551615)"));
}

CHECK_MAIN(test_index, test_index_after_switches, test_sum, test_restart, test_init_that_waits,
           test_without_runtime, test_wrong_sizes)
