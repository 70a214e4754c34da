/* Fiber-local storage: where a value is kept, which fiber sees it, and when it is destroyed. */
#include "unit/fiber/helpers.h"

#include <filch/job.h>
#include <filch/task.h>

static int plain, counted, low, high, again, never_empty, handle_key;
static atomic_int destroyed_n, wrong;

static void count_destroyed(void *value)
{
    (void)value;
    atomic_fetch_add(&destroyed_n, 1);
}

/* ---- values of one fiber ---- */

static void *set_and_get(void *mine)
{
    for (int i = 0; i < 100; i++) {
        if (filch_fls_get(plain) != (i == 0 ? NULL : mine))
            return (void *)__LINE__;
        if (filch_fls_set(plain, mine) != 0)
            return (void *)__LINE__;
        filch_yield();
    }
    return (void *)(intptr_t)(filch_fls_get(plain) != mine);
}

static int values_are_separate(void)
{
    enum { N = 50 };
    filch_fiber *f[N];

    for (intptr_t i = 0; i < N; i++)
        EXPECT((f[i] = filch_fiber_start(set_and_get, (void *)(i + 1))) != NULL);
    for (int i = 0; i < N; i++)
        EXPECT(join(f[i]) == 0);
    return 0;
}

static int invalid_keys(void)
{
    EXPECT(filch_fls_set(-1, &plain) == -EINVAL && filch_fls_set(FILCH_FLS_MAX, NULL) == -EINVAL);
    EXPECT(!filch_fls_get(-1) && !filch_fls_get(FILCH_FLS_MAX) && !filch_fls_get(INT32_MAX));
    return 0;
}

/* ---- destructors ---- */

static void *set_counted(void *value)
{
    return (void *)(intptr_t)filch_fls_set(counted, value);
}

static void go_counted(void *value)
{
    filch_fls_set(counted, value);
}

static int set_in_thread(void *value)
{
    return filch_fls_set(counted, value);
}

/* Values are destroyed before a join returns.  NULL values are not destroyed. */
static int destroyed(void)
{
    async_call p;

    atomic_store(&destroyed_n, 0);
    for (int i = 1; i <= SCALED(1000); i++) {
        EXPECT(join(filch_fiber_start(set_counted, &p)) == 0);
        EXPECT(atomic_load(&destroyed_n) == i);
    }
    atomic_store(&destroyed_n, 0);
    EXPECT(join(filch_fiber_start(set_counted, NULL)) == 0);
    EXPECT(atomic_load(&destroyed_n) == 0);
    async_call_start_thread(&p, set_in_thread, &p);
    EXPECT(async_call_join(&p) == 0);
    EXPECT(atomic_load(&destroyed_n) == 1);
    EXPECT(filch_go(go_counted, &p) == 0);
    await_count(&destroyed_n, 2);
    return 0;
}

FILCH_VOID_TASK(set_in_task, void *, value)
{
    filch_fls_set(counted, value);
}

/* From a thread, because FILCH_RUN in a fiber is a plain call. */
static int destroyed_before_the_wait_ends(void)
{
    filch_group g = FILCH_GROUP_INIT;

    atomic_store(&destroyed_n, 0);
    for (int i = 0; i < SCALED(1000); i++) {
        filch_job *j = filch_job_new(go_counted, &plain);
        EXPECT(j != NULL);
        filch_job_submit(j);
        EXPECT(filch_job_wait(j) == 0);
        EXPECT(atomic_load(&destroyed_n) == 3 * i + 1);
        EXPECT(filch_group_run(&g, go_counted, &plain) == 0);
        EXPECT(filch_group_wait(&g) == 0);
        EXPECT(atomic_load(&destroyed_n) == 3 * i + 2);
        FILCH_RUN(set_in_task, &plain);
        EXPECT(atomic_load(&destroyed_n) == 3 * i + 3);
    }
    return 0;
}

static void *set_and_unset(void *value)
{
    int e = filch_fls_set(counted, value);

    return (void *)(intptr_t)(e < 0 ? e : filch_fls_set(counted, NULL));
}

static int unset(void)
{
    atomic_store(&destroyed_n, 0);
    EXPECT(join(filch_fiber_start(set_and_unset, &plain)) == 0);
    EXPECT(atomic_load(&destroyed_n) == 0);
    return 0;
}

/* ---- order and rounds of destructors ---- */

typedef struct record {
    char text[32];
    int n;
} record;

static void append(record *r, char c)
{
    r->text[r->n++] = c;
}

/* In its destructor a value is NULL, and other values are unchanged. */
static void destroy_low(void *value)
{
    append(value, 'l');
    if (filch_fls_get(low) || filch_fls_get(high) != value)
        atomic_fetch_add(&wrong, 1);
}

static void destroy_high(void *value)
{
    append(value, 'h');
    if (filch_fls_get(low) || filch_fls_get(high))
        atomic_fetch_add(&wrong, 1);
}

/* Sets a value that was already destroyed in this round. */
static void destroy_again(void *value)
{
    record *r = value;

    append(r, 'a');
    if (r->n < 4)
        filch_fls_set(plain, value), filch_fls_set(again, value);
}

/* A destructor may wait and continue on another thread. */
static void destroy_never_empty(void *value)
{
    append(value, 'n');
    filch_sleep(FILCH_US(1));
    filch_fls_set(never_empty, value);
}

static void *set_ordered(void *value)
{
    filch_fls_set(high, value);
    filch_fls_set(low, value);
    return NULL;
}

static void *set_again(void *value)
{
    filch_fls_set(again, value);
    return NULL;
}

static void *set_never_empty(void *value)
{
    filch_fls_set(never_empty, value);
    return NULL;
}

static int in_order(void)
{
    record r = {0};

    atomic_store(&wrong, 0);
    EXPECT(join(filch_fiber_start(set_ordered, &r)) == 0);
    EXPECT(strcmp(r.text, "lh") == 0 && atomic_load(&wrong) == 0);
    return 0;
}

static int in_rounds(void)
{
    record a = {0}, n = {0};

    EXPECT(join(filch_fiber_start(set_again, &a)) == 0);
    EXPECT(strcmp(a.text, "aaaa") == 0);
    EXPECT(join(filch_fiber_start(set_never_empty, &n)) == 0);
    EXPECT(strcmp(n.text, "nnnn") == 0); /* and then it is dropped */
    return 0;
}

static int set_all_in_thread(void *value)
{
    set_ordered(value);
    set_never_empty(value);
    return 0;
}

static int in_threads(void)
{
    record r = {0};
    async_call p;

    atomic_store(&wrong, 0);
    async_call_start_thread(&p, set_all_in_thread, &r);
    EXPECT(async_call_join(&p) == 0);
    EXPECT(strcmp(r.text, "lhnnnn") == 0 && atomic_load(&wrong) == 0);
    return 0;
}

/* ---- in tasks and jobs ---- */

FILCH_TASK(int, local_in_task, void *, value)
{
    EXPECT(!filch_fls_get(counted));
    EXPECT(filch_fls_set(counted, value) == 0);
    filch_yield();
    EXPECT(filch_fls_get(counted) == value);
    return 0;
}

static int local_in_job(void *value)
{
    EXPECT(!filch_fls_get(counted));
    EXPECT(filch_fls_set(counted, value) == 0);
    filch_yield();
    EXPECT(filch_fls_get(counted) == value);
    return 0;
}

/* No task or job sees a value of another one that ran on the same fiber. */
static int tasks_and_jobs(void)
{
    enum { N = 100 };
    filch_group g = FILCH_GROUP_INIT;
    int x;

    atomic_store(&destroyed_n, 0);
    for (int i = 0; i < N; i++)
        EXPECT(FILCH_RUN(local_in_task, &x) == 0);
    await_count(&destroyed_n, N);
    for (int i = 0; i < N; i++)
        EXPECT(filch_group_run_fallible(&g, local_in_job, &x) == 0);
    EXPECT(filch_group_wait(&g) == 0);
    await_count(&destroyed_n, 2 * N);
    for (int i = 0; i < N; i++) {
        filch_job *j = filch_job_new_fallible(local_in_job, &x);
        EXPECT(j && filch_job_submit(j) == 0 && filch_job_wait(j) == 0);
    }
    await_count(&destroyed_n, 3 * N);
    return 0;
}

/* ---- the handle of the fiber ---- */

/* The destructor parks, and then the fiber still has the same handle. */
static void check_handle(void *handle)
{
    filch_yield();
    if (!filch_fiber_self() || (handle != &plain && handle != filch_fiber_self()))
        atomic_fetch_add(&wrong, 1);
    atomic_fetch_add(&destroyed_n, 1);
}

static void handle_before_value(void *arg)
{
    (void)arg;
    filch_fls_set(handle_key, filch_fiber_self());
}

static void value_before_handle(void *arg)
{
    filch_fls_set(handle_key, arg);
    filch_fls_set(handle_key, filch_fiber_self());
}

/* The destructor is the first to ask for the handle. */
static void handle_in_destructor(void *arg)
{
    filch_fls_set(handle_key, arg);
}

static void *joinable_value(void *arg)
{
    value_before_handle(arg);
    return arg;
}

static int handle_outlives_values(void)
{
    void (*const work[])(void *) = {handle_before_value, value_before_handle, handle_in_destructor};
    filch_group g = FILCH_GROUP_INIT;
    int n = 0;

    atomic_store(&destroyed_n, 0);
    for (int i = 0; i < SCALED(30); i++) {
        filch_job *j = filch_job_new(work[i % 3], &plain);
        EXPECT(j && filch_job_submit(j) == 0 && filch_job_wait(j) == 0);
        EXPECT(filch_group_run(&g, work[i % 3], &plain) == 0 && filch_group_wait(&g) == 0);
        EXPECT(join(filch_fiber_start(joinable_value, &plain)) == (intptr_t)&plain);
        EXPECT(atomic_load(&destroyed_n) == (n += 3));
        EXPECT(filch_go(work[i % 3], &plain) == 0);
        await_count(&destroyed_n, ++n);
    }
    EXPECT(atomic_load(&wrong) == 0);
    return 0;
}

/* ---- freed keys ---- */

static atomic_int freed_key_destructors, step;

static void count_freed_key(void *value)
{
    (void)value;
    atomic_fetch_add(&freed_key_destructors, 1);
}

/* Keep a value until the key is freed and its index belongs to another key. */
static void *hold_over_free(void *arg)
{
    const int *keys = arg;

    if (filch_fls_set(keys[0], arg) != 0)
        return (void *)__LINE__;
    atomic_store(&step, 1);
    await_count(&step, 2);
    if (filch_fls_get(keys[0]) || filch_fls_get(keys[1]))
        return (void *)__LINE__;
    if (filch_fls_set(keys[0], arg) != -EINVAL || filch_fls_set(keys[1], &step) != 0)
        return (void *)__LINE__;
    return (void *)(intptr_t)(filch_fls_get(keys[0]) || filch_fls_get(keys[1]) != &step);
}

static int hold_in_thread(void *arg)
{
    return (int)(intptr_t)hold_over_free(arg);
}

static int free_and_reuse(int keys[2])
{
    EXPECT(filch_fls_free(keys[0]) == 0 && filch_fls_free(keys[0]) == -EINVAL);
    keys[1] = filch_fls_new(count_freed_key);
    EXPECT(keys[1] >= 0 && keys[1] != keys[0] && (keys[1] - keys[0]) % FILCH_FLS_MAX == 0);
    atomic_store(&step, 2);
    return 0;
}

static int freed(void)
{
    int keys[2];
    async_call p;

    EXPECT(filch_fls_free(-1) == -EINVAL && filch_fls_free(FILCH_FLS_MAX) == -EINVAL);
    for (int i = 0; i < SCALED(100); i++) {
        EXPECT((keys[0] = filch_fls_new(count_freed_key)) >= 0);
        atomic_store(&step, 0);
        atomic_store(&freed_key_destructors, 0);
        if (i % 2)
            async_call_start_thread(&p, hold_in_thread, keys);
        else
            async_call_start(&p, hold_in_thread, keys);
        await_count(&step, 1);
        EXPECT(filch_fls_set(keys[0], keys) == 0);
        EXPECT(free_and_reuse(keys) == 0);
        EXPECT(!filch_fls_get(keys[0]) && !filch_fls_get(keys[1]));
        EXPECT(async_call_join(&p) == 0);
        EXPECT(atomic_load(&freed_key_destructors) == 1); /* only for the value of keys[1] */
        EXPECT(filch_fls_free(keys[1]) == 0);
    }
    return 0;
}

/* ---- many values ---- */

static void *set_many(void *arg)
{
    const int *keys = arg;

    for (int i = 100; i >= 0; i--)
        if (filch_fls_set(keys[i], (void *)(intptr_t)(i + 1)) != 0)
            return (void *)__LINE__;
    for (int i = 0; i <= 100; i++)
        if (filch_fls_get(keys[i]) != (void *)(intptr_t)(i + 1))
            return (void *)__LINE__;
    return NULL;
}

static int many_values(void)
{
    int keys[101];

    atomic_store(&destroyed_n, 0);
    for (int i = 0; i <= 100; i++)
        EXPECT((keys[i] = filch_fls_new(count_destroyed)) >= 0);
    EXPECT(join(filch_fiber_start(set_many, keys)) == 0);
    EXPECT(atomic_load(&destroyed_n) == 101);
    for (int i = 0; i <= 100; i++)
        EXPECT(filch_fls_free(keys[i]) == 0);
    return 0;
}

/* ---- all tests ---- */

EVERYWHERE(values_are_separate)
EVERYWHERE(invalid_keys)
EVERYWHERE(destroyed)
FROM_THREAD(destroyed_before_the_wait_ends)
EVERYWHERE(unset)
EVERYWHERE(in_order)
EVERYWHERE(in_rounds)
EVERYWHERE(in_threads)
FROM_THREAD(tasks_and_jobs)
EVERYWHERE(handle_outlives_values)
EVERYWHERE(freed)
EVERYWHERE(many_values)

static void keys_are_distinct(void **state)
{
    (void)state;
    CHECK_INT(filch_fls_set(0, &plain), -EINVAL);
    plain = filch_fls_new(NULL);
    counted = filch_fls_new(count_destroyed);
    low = filch_fls_new(destroy_low);
    high = filch_fls_new(destroy_high);
    again = filch_fls_new(destroy_again);
    never_empty = filch_fls_new(destroy_never_empty);
    CHECK(plain >= 0 && plain < counted && counted < low && low < high && high < again);
    handle_key = filch_fls_new(check_handle);
    CHECK(again < never_empty && never_empty < handle_key);
}

static void test_max_keys(void **state)
{
    int key, last = handle_key;

    (void)state;
    while ((key = filch_fls_new(NULL)) >= 0)
        CHECK_INT(key, ++last);
    CHECK_INT(key, -EAGAIN);
    CHECK_INT(last, FILCH_FLS_MAX - 1);
    CHECK_INT(filch_fls_set(last, &last), 0);
    CHECK(filch_fls_get(last) == &last);
    CHECK_INT(filch_fls_set(last, NULL), 0);
    while (last > handle_key)
        CHECK_INT(filch_fls_free(last--), 0);
}

CHECK_MAIN(keys_are_distinct, test_values_are_separate, test_invalid_keys, test_destroyed,
           test_destroyed_before_the_wait_ends, test_unset, test_in_order, test_in_rounds,
           test_in_threads, test_tasks_and_jobs, test_handle_outlives_values, test_max_keys,
           test_freed, test_many_values)
