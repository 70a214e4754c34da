/* Cancelling a fiber ends its waits, at any point of its life, and no waits of other fibers. */
#include "unit/fiber/helpers.h"

#include <filch/chan.h>
#include <filch/job.h>

/* ---- while the fiber waits ---- */

static void *sleep_long(void *arg)
{
    (void)arg;
    return (void *)(intptr_t)filch_sleep(FILCH_S(1000));
}

static void *sleep_forever(void *arg)
{
    (void)arg;
    return (void *)(intptr_t)filch_sleep_until(FILCH_FOREVER);
}

static void *join_body(void *handle)
{
    return (void *)(intptr_t)filch_fiber_join(handle, NULL);
}

static void *receive(void *chan)
{
    int item;

    return (void *)(intptr_t)filch_chan_recv(chan, &item);
}

static int cancel_while_parked(void *(*body)(void *), void *arg, const char *what)
{
    filch_fiber *f = filch_fiber_start(body, arg);

    EXPECT(f != NULL);
    await_parked(f, what);
    filch_fiber_cancel(f);
    EXPECT(join(f) == -ECANCELED);
    return 0;
}

static int parked(void)
{
    filch_sem sem = {0};
    filch_chan *c = filch_chan_new(sizeof(int), 0);
    filch_fiber *f = filch_fiber_start(wait_for_sem, &sem);

    EXPECT(cancel_while_parked(sleep_long, NULL, "sleep") == 0);
    EXPECT(cancel_while_parked(sleep_forever, NULL, "sleep") == 0);
    EXPECT(cancel_while_parked(wait_for_sem, &sem, "semaphore") == 0);
    EXPECT(cancel_while_parked(receive, c, "receive") == 0);
    EXPECT(cancel_while_parked(join_body, f, "join") == 0);
    filch_chan_free(c);
    filch_sem_post(&sem);
    EXPECT(join(f) ==
           0); /* the handle is still valid, and the fiber is not cancelled with its joiner */
    return 0;
}

/* filch_mutex_lock is not interrupted, but the next wait is. */
static void *lock_then_sleep(void *mutex)
{
    filch_mutex_lock(mutex);
    filch_mutex_unlock(mutex);
    return sleep_long(NULL);
}

static int not_in_a_lock(void)
{
    filch_mutex m = {0};
    filch_fiber *f;

    filch_mutex_lock(&m);
    f = filch_fiber_start(lock_then_sleep, &m);
    await_waiting(&m, 1);
    filch_fiber_cancel(f);
    EXPECT(n_waiting(&m) == 1);
    filch_mutex_unlock(&m);
    EXPECT(join(f) == -ECANCELED);
    return 0;
}

/* ---- a group: the wait passes the cancellation on, and continues ---- */

static int run_member(void *sem)
{
    return filch_sem_wait(sem);
}

static void *wait_long_for_group(void *group)
{
    return (void *)(intptr_t)filch_group_wait_until(group, filch_now() + FILCH_S(1000));
}

static void *wait_for_group(void *group)
{
    int e = filch_group_wait(group);

    return e == -ECANCELED ? sleep_long(NULL) : (void *)__LINE__;
}

static int in_a_group_wait(void)
{
    filch_sem sem = {0};
    filch_group g = FILCH_GROUP_INIT;
    filch_fiber *f;

    EXPECT(filch_group_run_fallible(&g, run_member, &sem) == 0);
    EXPECT(cancel_while_parked(wait_long_for_group, &g, "group") == 0);
    EXPECT(filch_group_run_fallible(&g, run_member, &sem) == 0);
    f = filch_fiber_start(wait_for_group, &g);
    await_parked(f, "group");
    filch_fiber_cancel(f);
    EXPECT(join(f) == -ECANCELED); /* by the sleep; the group was waited for */
    return 0;
}

/* ---- before it starts, while it runs, after its end, twice ---- */

static atomic_int ran;

static void *check_and_sleep(void *arg)
{
    bool seen = filch_fiber_is_cancelled();

    atomic_fetch_add(&ran, 1);
    return seen ? sleep_long(arg) : arg;
}

/* On one worker the fiber cannot have started. */
static int before_it_starts(void)
{
    filch_fiber *f;

    atomic_store(&ran, 0);
    f = filch_fiber_start(check_and_sleep, NULL);
    filch_fiber_cancel(f);
    EXPECT(atomic_load(&ran) == 0);
    EXPECT(join(f) == -ECANCELED);
    EXPECT(atomic_load(&ran) == 1);
    return 0;
}

static void *compute(void *arg)
{
    (void)arg;
    atomic_store(&ran, 1);
    while (!filch_fiber_is_cancelled())
        filch_yield();
    if (filch_sleep(FILCH_S(1000)) != -ECANCELED || filch_sleep(0) != 0)
        return (void *)__LINE__;
    return (void *)(intptr_t)!filch_fiber_is_cancelled();
}

static int any_time(void)
{
    filch_fiber *f;

    atomic_store(&ran, 0);
    f = filch_fiber_start(compute, NULL);
    await_count(&ran, 1);
    filch_fiber_cancel(f);
    filch_fiber_cancel(f);
    EXPECT(join(f) == 0);
    f = filch_fiber_start(same, &ran);
    await_end(f);
    filch_fiber_cancel(f);
    filch_fiber_cancel(f);
    EXPECT(join(f) == (intptr_t)&ran);
    return 0;
}

/* ---- uncancel ---- */

/* Fibers that were uncancelled.  Before that they wait for the semaphore for a moment. */
static atomic_int recovered;

static void *recover(void *sem)
{
    int e = filch_sleep(FILCH_S(1000));

    if (e != -ECANCELED || !filch_fiber_is_cancelled())
        return (void *)__LINE__;
    if (filch_sem_wait(sem) != -ECANCELED)
        return (void *)__LINE__;
    if (!filch_fiber_uncancel() || filch_fiber_uncancel() || filch_fiber_is_cancelled())
        return (void *)__LINE__;
    if (filch_sleep(FILCH_US(10)) != 0)
        return (void *)__LINE__;
    atomic_fetch_add(&recovered, 1);
    return wait_for_sem(sem);
}

static int uncancelled(void)
{
    filch_sem sem = {0};
    filch_fiber *f;

    atomic_store(&recovered, 0);
    f = filch_fiber_start(recover, &sem);

    await_parked(f, "sleep");
    filch_fiber_cancel(f);
    await_parked(f, "semaphore");
    filch_sem_post(&sem);
    EXPECT(join(f) == 0);
    f = filch_fiber_start(recover, &sem);
    await_parked(f, "sleep");
    filch_fiber_cancel(f);
    await_count(&recovered, 2);
    await_parked(f, "semaphore");
    filch_fiber_cancel(f); /* again, for the second wait */
    EXPECT(join(f) == -ECANCELED);
    return 0;
}

/* ---- by itself, by many threads ---- */

static void *cancel_self(void *arg)
{
    filch_fiber_cancel(filch_fiber_self());
    return sleep_long(arg);
}

static atomic_int self_result;

static void go_and_cancel_self(void *arg)
{
    atomic_store(&self_result, (int)(intptr_t)cancel_self(arg));
}

static int by_itself(void)
{
    EXPECT(join(filch_fiber_start(cancel_self, NULL)) == -ECANCELED);
    atomic_store(&self_result, 0);
    EXPECT(filch_go(go_and_cancel_self, NULL) == 0);
    await_count(&self_result, -ECANCELED);
    return 0;
}

static void *is_cancelled(void *arg)
{
    (void)arg;
    return (void *)(intptr_t)(filch_fiber_is_cancelled() || filch_sleep(0) != 0);
}

/* A fiber that reuses the record of a cancelled one is not cancelled. */
static int not_the_next_fiber(void)
{
    for (int i = 0; i < SCALED(3000); i++) {
        filch_fiber *f = filch_fiber_start(check_and_sleep, NULL);
        intptr_t e;
        filch_fiber_cancel(f);
        e = join(f);
        EXPECT(e == -ECANCELED || e == 0);
        EXPECT(join(filch_fiber_start(is_cancelled, NULL)) == 0);
    }
    return 0;
}

static int cancel_once(void *handle)
{
    filch_fiber_cancel(handle);
    return 0;
}

/* Several fibers and a thread cancel at once, while the sleep begins and ends. */
static int by_many(void)
{
    enum { CANCELLERS = 4 };

    for (int i = 0; i < SCALED(300); i++) {
        filch_fiber *f = filch_fiber_start(sleep_long, NULL);
        async_call p[CANCELLERS];
        for (int k = 0; k < CANCELLERS; k++)
            if (k < CANCELLERS - 1)
                async_call_start(&p[k], cancel_once, f);
            else
                async_call_start_thread(&p[k], cancel_once, f);
        for (int k = 0; k < CANCELLERS; k++)
            async_call_join(&p[k]);
        EXPECT(join(f) == -ECANCELED);
    }
    return 0;
}

EVERYWHERE(parked)
EVERYWHERE(not_in_a_lock)
EVERYWHERE(in_a_group_wait)
ON_ONE_WORKER(before_it_starts)
EVERYWHERE(any_time)
EVERYWHERE(uncancelled)
EVERYWHERE(by_itself)
EVERYWHERE(not_the_next_fiber)
FROM_THREAD(by_many)

CHECK_MAIN(test_parked, test_not_in_a_lock, test_in_a_group_wait, test_before_it_starts,
           test_any_time, test_uncancelled, test_by_itself, test_not_the_next_fiber, test_by_many)
