/* Trees of tasks, group work and jobs that block at random, while others wait for them with
 * deadlines.  Nothing hangs, and all work runs once.  FILCH_SEED=… repeats the choices of a run. */
#include "unit/task/helpers.h"

#include "base/rng.h"
#include "seed.h"

#include <filch/chan.h>
#include <filch/fiber.h>
#include <filch/job.h>
#include <filch/sync.h>
#include <filch/time.h>

#include <errno.h>
#include <stdatomic.h>

static uint64_t seed;
static filch_mutex mutex;
static filch_sem sem = FILCH_SEM_INIT(2);
static long under_mutex;
static atomic_long done;

/* Waits in one of several ways.  Each wait ends when another task runs. */
static void block(uint64_t choice)
{
    switch (choice % 5) {
    case 0:
        filch_mutex_lock(&mutex);
        if (choice % 3 == 0)
            filch_yield();
        under_mutex++;
        filch_mutex_unlock(&mutex);
        return;
    case 1:
        filch_sleep(FILCH_US(choice % 20));
        break;
    case 2:
        while (filch_sem_wait(&sem) != 0)
            continue;
        filch_yield();
        filch_sem_post(&sem);
        break;
    case 3:
        filch_yield();
        break;
    default:
        break;
    }
    filch_mutex_lock(&mutex);
    under_mutex++;
    filch_mutex_unlock(&mutex);
}

static uint64_t mix(uint64_t x)
{
    fi_rng r;

    fi_rng_seed(&r, x);
    return fi_rng_next(&r);
}

/* ---- tasks ---- */

FILCH_TASK(long, tree, int, depth, uint64_t, choice)
{
    long sum = 1;

    block(choice);
    if (depth == 0)
        return 1;
    for (uint64_t i = 0; i < 3; i++)
        FILCH_SPAWN(tree, depth - 1, mix(choice + i));
    for (int i = 0; i < 3; i++)
        sum += FILCH_SYNC(tree);
    return sum;
}

static void *run_tree(void *arg)
{
    return (void *)(intptr_t)FILCH_RUN(tree, 5, *(uint64_t *)arg);
}

static void trees(void)
{
    enum { FIBERS = 6, NODES = 364 };
    filch_fiber *f[FIBERS];
    uint64_t choice[FIBERS];

    under_mutex = 0;
    for (int i = 0; i < FIBERS; i++) {
        choice[i] = mix(seed++);
        f[i] = filch_fiber_start(run_tree, &choice[i]);
    }
    CHECK_INT(FILCH_RUN(tree, 5, mix(seed++)), NODES);
    for (int i = 0; i < FIBERS; i++) {
        void *n;
        CHECK_INT(filch_fiber_join(f[i], &n), 0);
        CHECK_INT((intptr_t)n, NODES);
    }
    CHECK_INT(under_mutex, (FIBERS + 1) * NODES);
}

/* ---- groups and jobs ---- */

static void block_in_group(void *choice)
{
    block((uintptr_t)choice);
    atomic_fetch_add(&done, 1);
}

static void await_group(filch_group *g, fi_rng *r)
{
    int e;

    do
        e = filch_group_wait_until(g, fi_rng_below(r, 2) ? filch_now() + fi_rng_below(r, 40000)
                                                         : FILCH_FOREVER);
    while (e == -ETIMEDOUT);
    if (e != 0)
        abort();
}

static void await_job(filch_job *j, fi_rng *r)
{
    int e;

    do
        e = filch_job_wait_until(j, fi_rng_below(r, 2) ? filch_now() + fi_rng_below(r, 40000)
                                                       : FILCH_FOREVER);
    while (e == -ETIMEDOUT);
    if (e != 0)
        abort();
}

enum { PIECES = 20, JOBS = 6 };

/* A group, and a chain of jobs. */
static void run_round(fi_rng *r)
{
    filch_group g = FILCH_GROUP_INIT;
    filch_job *j[JOBS];

    for (int i = 0; i < PIECES; i++)
        filch_group_run(&g, block_in_group, (void *)(uintptr_t)fi_rng_next(r));
    for (int i = 0; i < JOBS; i++) {
        j[i] = filch_job_new(block_in_group, (void *)(uintptr_t)fi_rng_next(r));
        if (i > 0)
            filch_job_after(j[i], j[i - 1]);
    }
    for (int i = JOBS; i-- > 0;)
        filch_job_submit(j[i]);
    await_group(&g, r);
    for (int i = 0; i < JOBS; i++)
        await_job(j[i], r);
}

static void *rounds(void *choice)
{
    fi_rng r;

    fi_rng_seed(&r, *(uint64_t *)choice);
    for (int i = 0; i < SCALED(50); i++)
        run_round(&r);
    return NULL;
}

static void groups(void)
{
    enum { FIBERS = 6 };
    filch_fiber *f[FIBERS];
    uint64_t choice[FIBERS + 1];

    atomic_store(&done, 0);
    for (int i = 0; i < FIBERS; i++) {
        choice[i] = seed++;
        f[i] = filch_fiber_start(rounds, &choice[i]);
    }
    choice[FIBERS] = seed++;
    rounds(&choice[FIBERS]);
    for (int i = 0; i < FIBERS; i++)
        CHECK_INT(filch_fiber_join(f[i], NULL), 0);
    CHECK_INT(atomic_load(&done), (FIBERS + 1) * SCALED(50) * (PIECES + JOBS));
}

static void test_trees(void **state)
{
    (void)state;
    seed = seed_get();
    for (int i = 0; i < SCALED(20); i++)
        workers_each(NULL, trees);
}

static void test_groups(void **state)
{
    (void)state;
    seed = seed_get();
    workers_each(NULL, groups);
}

CHECK_MAIN(test_trees, test_groups)
