/* The life of a fiber: results, join and detach, names, stacks, filch_main. */
#include "unit/fiber/helpers.h"

/* ---- join ---- */

static int results(void)
{
    int x;
    void *result = NULL;
    filch_fiber *f = filch_fiber_start(same, &x);

    EXPECT(f && filch_fiber_join(f, &result) == 0 && result == &x);
    f = filch_fiber_start_attr(NULL, same, &x);
    EXPECT(f && filch_fiber_join_until(f, NULL, NEVER) == 0);
    f = filch_fiber_start(same, &x);
    await_end(f);
    result = NULL;
    EXPECT(filch_fiber_join_until(f, &result, 0) == 0 && result == &x);
    return 0;
}

static int many(void)
{
    enum { N = 2000 };
    static filch_fiber *all[N];

    for (intptr_t i = 0; i < N; i++)
        EXPECT((all[i] = filch_fiber_start(same, (void *)i)) != NULL);
    for (intptr_t i = N; i-- > 0;)
        EXPECT(join(all[i]) == i);
    return 0;
}

/* After an error the caller still owns the handle. */
static int deadlines(void)
{
    filch_sem sem = {0};
    void *result = &sem;
    filch_fiber *f = filch_fiber_start(wait_for_sem, &sem);

    EXPECT(filch_fiber_join_until(f, &result, 0) == -ETIMEDOUT);
    EXPECT(filch_fiber_join_until(f, &result, SOON) == -ETIMEDOUT);
    EXPECT(result == &sem);
    filch_sem_post(&sem);
    EXPECT(filch_fiber_join_until(f, &result, filch_now() + FILCH_S(200)) == 0 && !result);
    return 0;
}

static void *join_handle(void *arg)
{
    return (void *)join(arg);
}

static int join_for(void *arg)
{
    return (int)join(arg);
}

/* The joiner waits first. */
static int waits_for_the_end(void)
{
    filch_sem sem = {0};
    filch_fiber *f = filch_fiber_start(wait_for_sem, &sem);
    async_call p;

    async_call_start(&p, join_for, f);
    await_joiner(f);
    filch_sem_post(&sem);
    EXPECT(async_call_join(&p) == 0);
    return 0;
}

static int waits_in_a_thread(void)
{
    filch_sem sem = {0};
    filch_fiber *f = filch_fiber_start(wait_for_sem, &sem);
    async_call p;

    async_call_start_thread(&p, join_for, f);
    await_joiner(f);
    filch_sem_post(&sem);
    EXPECT(async_call_join(&p) == 0);
    return 0;
}

static void *join_self(void *arg)
{
    (void)arg;
    return (void *)(intptr_t)filch_fiber_join(filch_fiber_self(), NULL);
}

static int joins_in_a_row(void)
{
    filch_sem sem = {0};
    filch_fiber *f = filch_fiber_start(wait_for_sem, &sem);

    for (int i = 0; i < 100; i++)
        EXPECT((f = filch_fiber_start(join_handle, f)) != NULL);
    filch_sem_post(&sem);
    EXPECT(join(f) == 0);
    EXPECT(join(filch_fiber_start(join_self, NULL)) == -EDEADLK);
    return 0;
}

/* ---- detach ---- */

static atomic_int ended_n;

static void *wait_and_count(void *sem)
{
    filch_sem_wait(sem);
    atomic_fetch_add(&ended_n, 1);
    return NULL;
}

static int detached(void)
{
    static filch_sem sem;
    filch_fiber *f;

    atomic_store(&ended_n, 0);
    filch_fiber_detach(filch_fiber_start(wait_and_count, &sem));
    f = filch_fiber_start(wait_and_count, &sem);
    await_waiting(&sem, 2);
    filch_fiber_detach(f);
    filch_sem_post_n(&sem, 3);
    f = filch_fiber_start(wait_and_count, &sem);
    await_end(f);
    filch_fiber_detach(f);
    await_count(&ended_n, 3);
    return 0;
}

static void *count_and_end(void *arg)
{
    atomic_fetch_add(&ended_n, 1);
    return arg;
}

static int detach_many(int n)
{
    atomic_store(&ended_n, 0);
    for (int i = 0; i < n; i++) {
        filch_fiber *f = filch_fiber_start(count_and_end, NULL);
        if (i % 3 == 0)
            EXPECT(join(f) == 0);
        else if (i % 3 == 1)
            await_end(f), filch_fiber_detach(f);
        else
            filch_fiber_detach(f);
        if (i % 64 == 0)
            await_count(&ended_n, i + 1); /* limits the number of fibers that exist at once */
    }
    await_count(&ended_n, n);
    return 0;
}

/* The second of fiber and user to drop a handle frees it.  So memory does not grow, except for what
 * the pool of each worker may still take up. */
static int handles_are_reused(void)
{
    const int n = SCALED(30000);
    size_t before;

    EXPECT(detach_many(n) == 0);
    before = fi_mem_live().bytes;
    EXPECT(detach_many(n) == 0);
    EXPECT(fi_mem_live().bytes < before + (size_t)n * sizeof(fi_handle) / 4 +
                                     8 * FI_RECORD_CACHE_MAX * FI_RECORD_SIZE(FI_RECORD_JOB));
    return 0;
}

/* ---- go ---- */

static void count_end(void *arg)
{
    (void)arg;
    atomic_fetch_add(&ended_n, 1);
}

static void go_to_depth(void *depth)
{
    if (depth)
        for (int i = 0; i < 2; i++)
            if (filch_go(go_to_depth, (void *)((uintptr_t)depth - 1)) != 0)
                abort();
    count_end(NULL);
}

static int nested_go(void)
{
    filch_fiber_attr attr = {.name = "named", .stack_size = 100000};

    atomic_store(&ended_n, 0);
    for (int i = 0; i < 1000; i++)
        EXPECT(filch_go(count_end, NULL) == 0);
    EXPECT(filch_go_attr(NULL, count_end, NULL) == 0);
    EXPECT(filch_go_attr(&attr, count_end, NULL) == 0);
    await_count(&ended_n, 1002);
    atomic_store(&ended_n, 0);
    EXPECT(filch_go(go_to_depth, (void *)(uintptr_t)10) == 0);
    await_count(&ended_n, (1 << 11) - 1);
    return 0;
}

static void sleep_and_count(void *arg)
{
    filch_sleep(FILCH_MS(1));
    count_end(arg);
}

/* filch_stop waits for all fibers. */
static void test_stop_waits(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof workers_counts / sizeof *workers_counts; i++) {
        CHECK_INT(filch_start(&(filch_config){.workers = workers_counts[i]}), 0);
        atomic_store(&ended_n, 0);
        for (int k = 0; k < 200; k++)
            CHECK_INT(filch_go(k % 2 ? count_end : sleep_and_count, NULL), 0);
        CHECK_INT(filch_stop(), 0);
        CHECK_INT(atomic_load(&ended_n), 200);
    }
}

/* ---- names ---- */

static int is_named(const char *name)
{
    const char *is = filch_fiber_name(NULL);

    return name ? is && strcmp(is, name) == 0 : !is;
}

static int name_body(const char *at_first)
{
    filch_fiber *me;

    EXPECT(is_named(at_first));
    me = filch_fiber_self();
    EXPECT(me && me == filch_fiber_self());
    EXPECT(filch_fiber_name(me) == filch_fiber_name(NULL));
    filch_fiber_set_name("other");
    filch_yield();
    EXPECT(me == filch_fiber_self());
    EXPECT(is_named("other") && strcmp(filch_fiber_name(me), "other") == 0);
    filch_fiber_set_name(NULL);
    EXPECT(is_named(NULL) && !filch_fiber_name(me));
    return 0;
}

static void *name_fiber(void *name)
{
    return (void *)(intptr_t)name_body(name);
}

static atomic_int went;

static void name_go(void *name)
{
    atomic_store(&went, name_body(name));
}

static void *is_self(void *handle)
{
    while (!atomic_load((filch_fiber * _Atomic *)handle))
        filch_yield();
    return (void *)(intptr_t)(atomic_load((filch_fiber * _Atomic *)handle) == filch_fiber_self());
}

static int names(void)
{
    filch_fiber_attr attr = {.name = "one"};
    filch_fiber *_Atomic handle = NULL;
    filch_fiber *f = filch_fiber_start_attr(&attr, name_fiber, (void *)"one");

    EXPECT(join(f) == 0);
    EXPECT(join(filch_fiber_start(name_fiber, NULL)) == 0);
    atomic_store(&went, -1);
    EXPECT(filch_go_attr(&attr, name_go, (void *)"one") == 0);
    await_count(&went, 0);
    atomic_store(&went, -1);
    EXPECT(filch_go(name_go, NULL) == 0);
    await_count(&went, 0);
    f = filch_fiber_start(is_self, &handle);
    atomic_store(&handle, f);
    EXPECT(join(f) == 1);
    return 0;
}

static void test_threads_have_no_name(void **state)
{
    (void)state;
    filch_fiber_set_name("none");
    CHECK(!filch_fiber_name(NULL) && !filch_fiber_self());
    CHECK(!filch_fiber_is_cancelled() && !filch_fiber_uncancel());
    filch_yield();
    CHECK_INT(filch_worker_count(), 0);
}

/* ---- stacks ---- */

static long recurse(long depth)
{
    volatile char page[4096];

    page[0] = (char)depth;
    page[sizeof page - 1] = 1;
    return depth == 0 ? 0 : recurse(depth - 1) + page[sizeof page - 1];
}

static void *recurse_in_fiber(void *depth)
{
    return (void *)recurse((intptr_t)depth);
}

static int sizes(void)
{
    const size_t good[] = {1, 16384, 16385, 100000, 1 << 20, (size_t)1 << 30};
    filch_fiber_attr attr = {.stack_size = (size_t)64 << 20};
    filch_fiber *f = filch_fiber_start_attr(&attr, recurse_in_fiber, (void *)(intptr_t)4000);

    EXPECT(f && join(f) == 4000);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        attr.stack_size = good[i];
        f = filch_fiber_start_attr(&attr, same, &attr);
        EXPECT(f && join(f) == (intptr_t)&attr);
    }
    for (size_t i = 1; i < 4; i++) {
        attr.stack_size = i < 3 ? ((size_t)1 << 30) + i : SIZE_MAX;
        EXPECT(!filch_fiber_start_attr(&attr, same, NULL));
        EXPECT(filch_go_attr(&attr, count_end, NULL) == -EINVAL);
    }
    return 0;
}

/* ---- filch_main ---- */

static int from_fiber;

static int main_body(int argc, char **argv)
{
    if (!is_named("main"))
        return 1;
    from_fiber = filch_main(main_body, argc, argv);
    for (int i = 0; i < 10; i++)
        filch_go(sleep_and_count, NULL);
    return argc == 2 && !argv[2] ? atoi(argv[1]) : 2;
}

static void test_main(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        char name[] = "test", status[] = "40", *argv[] = {name, status, NULL};
        status[1] = (char)('0' + i);
        atomic_store(&ended_n, 0);
        CHECK_INT(filch_main(main_body, 2, argv), 40 + i);
        CHECK_INT(from_fiber, EXIT_FAILURE);
        CHECK_INT(atomic_load(&ended_n), 10);
        CHECK_INT(filch_worker_count(), 0);
    }
}

EVERYWHERE(results)
EVERYWHERE(many)
EVERYWHERE(deadlines)
EVERYWHERE(waits_for_the_end)
FROM_THREAD(waits_in_a_thread)
EVERYWHERE(joins_in_a_row)
EVERYWHERE(detached)
FROM_THREAD(handles_are_reused)
EVERYWHERE(nested_go)
EVERYWHERE(names)
EVERYWHERE(sizes)

static void no_handle(void **state)
{
    void *result = &result;

    (void)state;
    CHECK_INT(filch_fiber_join(NULL, &result), -EINVAL);
    CHECK_INT(filch_fiber_join_until(NULL, &result, INT64_MAX), -EINVAL);
    filch_fiber_detach(NULL);
    filch_fiber_cancel(NULL);
    CHECK(result == &result);
}

CHECK_MAIN(no_handle, test_results, test_many, test_deadlines, test_waits_for_the_end,
           test_waits_in_a_thread, test_joins_in_a_row, test_detached, test_handles_are_reused,
           test_nested_go, test_stop_waits, test_names, test_threads_have_no_name, test_sizes,
           test_main)
