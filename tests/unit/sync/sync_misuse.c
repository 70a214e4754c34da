/* Misuse aborts the program with a message. */
#include "child.h"
#include "main_fiber.h"
#include "unit/sync/helpers.h"

static void unlock_free(void)
{
    filch_mutex m = {0};

    filch_mutex_lock(&m);
    filch_mutex_unlock(&m);
    filch_mutex_unlock(&m);
}

static void wait_without_mutex(void)
{
    filch_mutex m = {0};
    filch_cond c = {0};

    filch_cond_wait(&c, &m);
}

static void test_mutex(void **state)
{
    (void)state;
    CHECK(aborts_with(unlock_free, "filch_mutex_unlock: the mutex is not locked"));
    CHECK(aborts_with(wait_without_mutex, "filch_mutex_unlock: the mutex is not locked"));
}

static void end_free_read(void)
{
    filch_rwlock l = {0};

    filch_rwlock_rdunlock(&l);
}

static void end_write_as_read(void)
{
    filch_rwlock l = {0};

    filch_rwlock_wrlock(&l);
    filch_rwlock_rdunlock(&l);
}

static void end_free_write(void)
{
    filch_rwlock l = {0};

    filch_rwlock_wrunlock(&l);
}

static void end_read_as_write(void)
{
    filch_rwlock l = {0};

    filch_rwlock_rdlock(&l);
    filch_rwlock_wrunlock(&l);
}

static void test_rwlock(void **state)
{
    (void)state;
    CHECK(aborts_with(end_free_read, "filch_rwlock_rdunlock: no reader holds the lock"));
    CHECK(aborts_with(end_write_as_read, "filch_rwlock_rdunlock: no reader holds the lock"));
    CHECK(aborts_with(end_free_write, "filch_rwlock_wrunlock: no writer holds the lock"));
    CHECK(aborts_with(end_read_as_write, "filch_rwlock_wrunlock: no writer holds the lock"));
}

static void post_too_many(void)
{
    filch_sem s = FILCH_SEM_INIT(UINT64_MAX - 1);

    filch_sem_post(&s);
    filch_sem_post(&s);
}

static void done_too_often(void)
{
    filch_wait_group g = {0};

    filch_wait_group_add(&g, 1);
    filch_wait_group_done(&g);
    filch_wait_group_done(&g);
}

static void add_too_many(void)
{
    filch_wait_group g = {.count_ = UINT64_MAX - 1};

    filch_wait_group_add(&g, 1);
    filch_wait_group_add(&g, 1);
}

static void test_numbers(void **state)
{
    (void)state;
    CHECK(aborts_with(post_too_many, "filch_sem_post_n: the value would overflow"));
    CHECK(aborts_with(done_too_often, "filch_wait_group_done: the counter is 0"));
    CHECK(aborts_with(add_too_many, "filch_wait_group_add: the counter would overflow"));
}

static void again(void *o)
{
    filch_once_run(o, again, o);
}

static void once_inside_once(void)
{
    filch_once o = {0};

    again(&o);
}

static void in_a_fiber(void *arg)
{
    (void)arg;
    once_inside_once();
}

static void once_inside_once_in_a_fiber(void)
{
    run_main_fiber(in_a_fiber, NULL);
}

static void test_once(void **state)
{
    (void)state;
    CHECK(aborts_with(once_inside_once, "filch_once_run: called by the function that it runs"));
    CHECK(aborts_with(once_inside_once_in_a_fiber,
                      "filch_once_run: called by the function that it runs"));
}

static void barrier_for_none(void)
{
    filch_barrier b = {0};

    filch_barrier_wait(&b, 0);
}

static int arrive_of_three(void *b)
{
    return filch_barrier_wait(b, 3);
}

static void barrier_without_agreement(void)
{
    filch_barrier b = {0};
    async_call p;

    async_call_start_thread(&p, arrive_of_three, &b);
    await_waiting(&b, 1);
    filch_barrier_wait(&b, 2);
}

static void test_barrier(void **state)
{
    (void)state;
    CHECK(aborts_with(barrier_for_none, "filch_barrier_wait: n is 0"));
    CHECK(aborts_with(barrier_without_agreement, "filch_barrier_wait: n differs"));
}

CHECK_MAIN(test_mutex, test_rwlock, test_numbers, test_once, test_barrier)
