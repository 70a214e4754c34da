/* Fiber-local storage: where a value is kept, which fiber sees it, and when it is destroyed. */
#include "unit/fiber/helpers.h"

#include <filch/job.h>
#include <filch/task.h>

static int plain, counted, low, high, again, never_empty;
static atomic_int destroyed_n, wrong;

static void count_destroyed(void *value)
{
    (void)value;
    atomic_fetch_add(&destroyed_n, 1);
}

/* ---- its own ---- */

static void *keep_own(void *mine)
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

static int own(void)
{
    enum { N = 50 };
    filch_fiber *f[N];

    for (intptr_t i = 0; i < N; i++)
        SAY((f[i] = filch_fiber_start(keep_own, (void *)(i + 1))) != NULL);
    for (int i = 0; i < N; i++)
        SAY(join(f[i]) == 0);
    return 0;
}

static int nonsense(void)
{
    SAY(filch_fls_set(-1, &plain) == -EINVAL && filch_fls_set(FILCH_FLS_MAX, NULL) == -EINVAL);
    SAY(!filch_fls_get(-1) && !filch_fls_get(FILCH_FLS_MAX) && !filch_fls_get(INT32_MAX));
    return 0;
}

/* ---- destroyed ---- */

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

/* When the fiber has been joined; what is NULL, or was set to that again, is not. */
static int destroyed(void)
{
    party p;

    atomic_store(&destroyed_n, 0);
    for (int i = 1; i <= SCALED(1000); i++) {
        SAY(join(filch_fiber_start(set_counted, &p)) == 0);
        SAY(atomic_load(&destroyed_n) == i);
    }
    atomic_store(&destroyed_n, 0);
    SAY(join(filch_fiber_start(set_counted, NULL)) == 0);
    SAY(atomic_load(&destroyed_n) == 0);
    party_start_thread(&p, set_in_thread, &p);
    SAY(party_end(&p) == 0);
    SAY(atomic_load(&destroyed_n) == 1);
    SAY(filch_go(go_counted, &p) == 0);
    await_count(&destroyed_n, 2);
    return 0;
}

FILCH_VOID_TASK(set_in_task, void *, value)
{
    filch_fls_set(counted, value);
}

/* From a thread, as a FILCH_RUN in a fiber is a call. */
static int destroyed_before_the_wait_ends(void)
{
    filch_group g = FILCH_GROUP_INIT;

    atomic_store(&destroyed_n, 0);
    for (int i = 0; i < SCALED(1000); i++) {
        filch_job *j = filch_job_new(go_counted, &plain);
        SAY(j != NULL);
        filch_job_submit(j);
        SAY(filch_job_wait(j) == 0);
        SAY(atomic_load(&destroyed_n) == 3 * i + 1);
        SAY(filch_group_run(&g, go_counted, &plain) == 0);
        SAY(filch_group_wait(&g) == 0);
        SAY(atomic_load(&destroyed_n) == 3 * i + 2);
        FILCH_RUN(set_in_task, &plain);
        SAY(atomic_load(&destroyed_n) == 3 * i + 3);
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
    SAY(join(filch_fiber_start(set_and_unset, &plain)) == 0);
    SAY(atomic_load(&destroyed_n) == 0);
    return 0;
}

/* ---- in order, and in rounds ---- */

typedef struct record {
    char text[32];
    int n;
} record;

static void note(record *r, char c)
{
    r->text[r->n++] = c;
}

/* While it is destroyed it is NULL, and the others are what they are. */
static void destroy_low(void *value)
{
    note(value, 'l');
    if (filch_fls_get(low) || filch_fls_get(high) != value)
        atomic_fetch_add(&wrong, 1);
}

static void destroy_high(void *value)
{
    note(value, 'h');
    if (filch_fls_get(low) || filch_fls_get(high))
        atomic_fetch_add(&wrong, 1);
}

/* Sets one that had its turn already. */
static void destroy_again(void *value)
{
    record *r = value;

    note(r, 'a');
    if (r->n < 4)
        filch_fls_set(plain, value), filch_fls_set(again, value);
}

/* It may wait, and go on in another thread. */
static void destroy_never_empty(void *value)
{
    note(value, 'n');
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
    SAY(join(filch_fiber_start(set_ordered, &r)) == 0);
    SAY(strcmp(r.text, "lh") == 0 && atomic_load(&wrong) == 0);
    return 0;
}

static int in_rounds(void)
{
    record a = {0}, n = {0};

    SAY(join(filch_fiber_start(set_again, &a)) == 0);
    SAY(strcmp(a.text, "aaaa") == 0);
    SAY(join(filch_fiber_start(set_never_empty, &n)) == 0);
    SAY(strcmp(n.text, "nnnn") == 0); /* and then no more */
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
    party p;

    atomic_store(&wrong, 0);
    party_start_thread(&p, set_all_in_thread, &r);
    SAY(party_end(&p) == 0);
    SAY(strcmp(r.text, "lhnnnn") == 0 && atomic_load(&wrong) == 0);
    return 0;
}

/* ---- in tasks and jobs ---- */

FILCH_TASK(int, local_in_task, void *, value)
{
    SAY(!filch_fls_get(counted));
    SAY(filch_fls_set(counted, value) == 0);
    filch_yield();
    SAY(filch_fls_get(counted) == value);
    return 0;
}

static int local_in_job(void *value)
{
    SAY(!filch_fls_get(counted));
    SAY(filch_fls_set(counted, value) == 0);
    filch_yield();
    SAY(filch_fls_get(counted) == value);
    return 0;
}

/* None of them sees what another has left behind on the same fiber. */
static int tasks_and_jobs(void)
{
    enum { N = 100 };
    filch_group g = FILCH_GROUP_INIT;
    int x;

    atomic_store(&destroyed_n, 0);
    for (int i = 0; i < N; i++)
        SAY(FILCH_RUN(local_in_task, &x) == 0);
    await_count(&destroyed_n, N);
    for (int i = 0; i < N; i++)
        SAY(filch_group_run_fallible(&g, local_in_job, &x) == 0);
    SAY(filch_group_wait(&g) == 0);
    await_count(&destroyed_n, 2 * N);
    for (int i = 0; i < N; i++) {
        filch_job *j = filch_job_new_fallible(local_in_job, &x);
        SAY(j && filch_job_submit(j) == 0 && filch_job_wait(j) == 0);
    }
    await_count(&destroyed_n, 3 * N);
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
    SAY(filch_fls_free(keys[0]) == 0 && filch_fls_free(keys[0]) == -EINVAL);
    keys[1] = filch_fls_new(count_freed_key);
    SAY(keys[1] >= 0 && keys[1] != keys[0] && (keys[1] - keys[0]) % FILCH_FLS_MAX == 0);
    atomic_store(&step, 2);
    return 0;
}

static int freed(void)
{
    int keys[2];
    party p;

    SAY(filch_fls_free(-1) == -EINVAL && filch_fls_free(FILCH_FLS_MAX) == -EINVAL);
    for (int i = 0; i < SCALED(100); i++) {
        SAY((keys[0] = filch_fls_new(count_freed_key)) >= 0);
        atomic_store(&step, 0);
        atomic_store(&freed_key_destructors, 0);
        if (i % 2)
            party_start_thread(&p, hold_in_thread, keys);
        else
            party_start(&p, hold_in_thread, keys);
        await_count(&step, 1);
        SAY(filch_fls_set(keys[0], keys) == 0);
        SAY(free_and_reuse(keys) == 0);
        SAY(!filch_fls_get(keys[0]) && !filch_fls_get(keys[1]));
        SAY(party_end(&p) == 0);
        SAY(atomic_load(&freed_key_destructors) == 1); /* for the value of keys[1] alone */
        SAY(filch_fls_free(keys[1]) == 0);
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
        SAY((keys[i] = filch_fls_new(count_destroyed)) >= 0);
    SAY(join(filch_fiber_start(set_many, keys)) == 0);
    SAY(atomic_load(&destroyed_n) == 101);
    for (int i = 0; i <= 100; i++)
        SAY(filch_fls_free(keys[i]) == 0);
    return 0;
}

/* ---- all ---- */

EVERYWHERE(own)
EVERYWHERE(nonsense)
EVERYWHERE(destroyed)
FROM_THREAD(destroyed_before_the_wait_ends)
EVERYWHERE(unset)
EVERYWHERE(in_order)
EVERYWHERE(in_rounds)
EVERYWHERE(in_threads)
FROM_THREAD(tasks_and_jobs)
EVERYWHERE(freed)
EVERYWHERE(many_values)

static void first(void **state)
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
    CHECK(again < never_empty);
}

static void test_max_keys(void **state)
{
    int key, last = never_empty;

    (void)state;
    while ((key = filch_fls_new(NULL)) >= 0)
        CHECK_INT(key, ++last);
    CHECK_INT(key, -EAGAIN);
    CHECK_INT(last, FILCH_FLS_MAX - 1);
    CHECK_INT(filch_fls_set(last, &last), 0);
    CHECK(filch_fls_get(last) == &last);
    CHECK_INT(filch_fls_set(last, NULL), 0);
    while (last > never_empty)
        CHECK_INT(filch_fls_free(last--), 0);
}

CHECK_MAIN(first, test_own, test_nonsense, test_destroyed, test_destroyed_before_the_wait_ends,
           test_unset, test_in_order, test_in_rounds, test_in_threads, test_tasks_and_jobs,
           test_max_keys, test_freed, test_many_values)
