/* Every allocation of the starts of bound fibers fails once. */
#include "check.h"

#include "fault/inject.h"

#include <errno.h>
#include <filch/filch.h>

static void post(void *sem)
{
    filch_yield();
    filch_sem_post(sem);
}

static void *same_index(void *arg)
{
    int index = filch_worker_index();

    (void)arg;
    for (int i = 0; i < 5; i++)
        filch_yield();
    return index == filch_worker_index() ? NULL : (void *)1;
}

static int start_both(void)
{
    filch_fiber_attr attr = {.bound = true};
    filch_sem done = FILCH_SEM_INIT(0);
    filch_fiber *f = filch_fiber_start_attr(&attr, same_index, NULL);
    void *wrong = NULL;
    int e = filch_go_attr(&attr, post, &done);

    if (e == 0)
        filch_sem_wait(&done);
    if (f)
        filch_fiber_join(f, &wrong);
    if (wrong)
        return -EPROTO;
    return f ? e : -ENOMEM;
}

static int run_bound(void *config)
{
    int e = filch_start(config);

    if (e < 0)
        return e;
    e = start_both();
    filch_stop();
    return e;
}

static void test_no_memory(void **state)
{
    filch_config c = {.workers = 2};
    unsigned n_runtime = 3 + 2 * c.workers; /* the runtime, its workers, deques, rings, strides */

    (void)state;
    CHECK(inject_every(run_bound, &c) > n_runtime);
}

CHECK_MAIN(test_no_memory)
