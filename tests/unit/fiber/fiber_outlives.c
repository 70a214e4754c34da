/* Objects that the user still owns when the runtime stops can be used and freed afterwards.  Then
 * all memory is freed. */
#include "unit/fiber/helpers.h"

#include <filch/memory.h>

static fi_mem_count before;

static void start(unsigned workers)
{
    before = fi_mem_live();
    CHECK_INT(filch_start(&(filch_config){.workers = workers}), 0);
}

/* All memory is freed with the sizes of its allocation, so the allocator can be replaced. */
static void check_no_memory(void)
{
    CHECK_INT(fi_mem_live().blocks, before.blocks);
    CHECK_INT(fi_mem_live().bytes, before.bytes);
    CHECK_INT(filch_set_allocator(NULL), 0);
}

/* ---- handles ---- */

enum { N = 300 }; /* more than a worker caches */
static filch_fiber *handles[N];

static void start_all(void)
{
    for (intptr_t i = 0; i < N; i++)
        CHECK((handles[i] = filch_fiber_start(same, (void *)i)) != NULL);
}

static void *start_all_on_fiber(void *arg)
{
    start_all();
    return arg;
}

static void stop_before_joins(bool on_fiber)
{
    if (on_fiber)
        CHECK_INT(join(filch_fiber_start(start_all_on_fiber, NULL)), 0);
    else
        start_all();
    for (int i = 0; i < N; i += 3)
        CHECK_INT(join(handles[i]), i);
    CHECK_INT(filch_stop(), 0);
}

static void join_the_rest(void)
{
    for (int i = 0; i < N; i++)
        if (i % 3 == 1)
            CHECK_INT(join(handles[i]), i);
        else if (i % 3 == 2)
            filch_fiber_detach(handles[i]);
}

static void test_joined_after_stop(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * sizeof workers_counts / sizeof *workers_counts; i++) {
        start(workers_counts[i / 2]);
        stop_before_joins(i % 2 == 0);
        join_the_rest();
        check_no_memory();
    }
}

static void *join_the_rest_on_fiber(void *arg)
{
    join_the_rest();
    return arg;
}

/* Joined while another runtime runs, by a thread and by a fiber of it, and after that runtime. */
static void test_joined_in_the_next_runtime(void **state)
{
    filch_fiber *f;

    (void)state;
    start(2);
    f = filch_fiber_start(same, &before);
    stop_before_joins(true);
    CHECK_INT(filch_start(&(filch_config){.workers = 2}), 0);
    CHECK_INT(join(filch_fiber_start(join_the_rest_on_fiber, NULL)), 0);
    CHECK_INT(filch_stop(), 0);
    CHECK_INT(filch_set_allocator(NULL), -EBUSY);
    CHECK(join(f) == (intptr_t)&before);
    check_no_memory();
}

/* Handles of several runtimes, joined in another order than the stops. */
static void test_joined_after_many_stops(void **state)
{
    enum { RUNTIMES = 5 };
    filch_fiber *f[RUNTIMES][2];

    (void)state;
    before = fi_mem_live();
    for (intptr_t i = 0; i < RUNTIMES; i++) {
        CHECK_INT(filch_start(NULL), 0);
        for (int k = 0; k < 2; k++)
            f[i][k] = filch_fiber_start(same, (void *)i);
        CHECK_INT(filch_stop(), 0);
    }
    for (int i = 0; i < 2 * RUNTIMES; i++)
        CHECK_INT(join(f[i * 3 % RUNTIMES][i / RUNTIMES]), i * 3 % RUNTIMES);
    check_no_memory();
}

/* ---- other objects ---- */

static void work(void *arg)
{
    (void)arg;
}

static void test_jobs_and_groups(void **state)
{
    filch_group g = FILCH_GROUP_INIT;
    filch_job *j;

    (void)state;
    start(2);
    for (int i = 0; i < 100; i++) {
        j = filch_job_new(work, NULL); /* done, and never waited for */
        CHECK_INT(filch_job_submit(j), 0);
        CHECK(filch_job_new(work, NULL) != NULL); /* never submitted */
        CHECK_INT(filch_group_run(&g, work, NULL), 0);
    }
    CHECK_INT(filch_stop(), 0);
    CHECK_INT(filch_group_wait(&g), 0);
    check_no_memory();
}

static void test_channels_and_timers(void **state)
{
    filch_timer t = FILCH_TIMER_INIT;
    filch_chan *c;
    int x = 1;

    (void)state;
    start(2);
    CHECK((c = filch_chan_new(sizeof x, 4)) != NULL);
    CHECK_INT(filch_chan_send(c, &x), 0);
    CHECK_INT(filch_timer_start(&t, filch_now() + FILCH_S(1000), work, NULL), 0);
    CHECK_INT(filch_stop(), 0);
    CHECK_INT(filch_chan_recv(c, &x), 0);
    filch_chan_free(c);
    CHECK_INT(filch_timer_stop(&t), 1);
    check_no_memory();
}

static int key;

static void *use_fls(void *arg)
{
    return filch_fls_set(key, arg) == 0 && filch_fls_get(key) == arg ? arg : NULL;
}

/* The storage of a thread is freed when it ends, or when its last value is removed. */
static void test_fls(void **state)
{
    pthread_t thread;
    void *got;

    (void)state;
    start(2);
    CHECK((key = filch_fls_new(NULL)) >= 0);
    CHECK(join(filch_fiber_start(use_fls, &key)) == (intptr_t)&key);
    CHECK(use_fls(&before) == &before);
    CHECK_INT(pthread_create(&thread, NULL, use_fls, &key), 0);
    CHECK_INT(pthread_join(thread, &got), 0);
    CHECK(got == &key);
    CHECK_INT(filch_stop(), 0);
    CHECK(filch_fls_get(key) == &before);
    CHECK_INT(filch_set_allocator(NULL), -EBUSY);
    CHECK_INT(filch_fls_set(key, NULL), 0);
    CHECK(filch_fls_get(key) == NULL);
    check_no_memory();
}

CHECK_MAIN(test_joined_after_stop, test_joined_in_the_next_runtime, test_joined_after_many_stops,
           test_jobs_and_groups, test_channels_and_timers, test_fls)
