/* Cancelling a fiber cancels its tasks, on all fibers that run them, with any number of workers,
 * and no other tasks. */
#include "unit/fiber/helpers.h"

#include "base/rng.h"
#include "seed.h"

#include <filch/task.h>

enum { TASKS = 8 };

/* A sleep that is not cancelled ends without an error, so a lost cancellation is detected. */
#define LONG FILCH_S(30)

static atomic_int started;

/* filch_yield cannot be cancelled. */
static void yield_until_started(int n)
{
    while (atomic_load(&started) < n)
        filch_yield();
}

/* ---- tasks that sleep ---- */

FILCH_TASK(int, sleeper, int, ignored)
{
    (void)ignored;
    atomic_fetch_add(&started, 1);
    return filch_sleep(LONG);
}

/* The number of cancelled sleepers.  all_first: sync only after all have started, each on a fiber
 * of its own. */
FILCH_TASK(int, sleepers, bool, all_first)
{
    int cancelled = 0;

    for (int i = 0; i < TASKS; i++)
        FILCH_SPAWN(sleeper, i);
    if (all_first)
        yield_until_started(TASKS);
    for (int i = 0; i < TASKS; i++)
        cancelled += FILCH_SYNC(sleeper) == -ECANCELED;
    return cancelled;
}

static void *run_sleepers(void *all_first)
{
    return (void *)(intptr_t)FILCH_RUN(sleepers, all_first != NULL);
}

static int cancel_sleepers(void *all_first, int after)
{
    filch_fiber *f;

    atomic_store(&started, 0);
    f = filch_fiber_start(run_sleepers, all_first);
    yield_until_started(after);
    filch_fiber_cancel(f);
    EXPECT(join(f) == TASKS);
    return 0;
}

/* Some tasks run on the fiber itself, others are stolen. */
static int some_are_stolen(void)
{
    EXPECT(cancel_sleepers(NULL, 1) == 0);
    EXPECT(cancel_sleepers(NULL, 0) == 0);
    return 0;
}

static int all_are_stolen(void)
{
    static char yes;

    EXPECT(cancel_sleepers(&yes, TASKS) == 0);
    EXPECT(cancel_sleepers(&yes, 1) == 0);
    EXPECT(cancel_sleepers(&yes, 0) == 0);
    return 0;
}

/* ---- a tree: its leaves are stolen from thieves ---- */

enum { DEPTH = 3, LEAVES = 1 << DEPTH };

static bool all_can_start; /* because each task is published at once */

FILCH_TASK(int, tree, int, depth)
{
    int n;

    if (depth == 0) {
        atomic_fetch_add(&started, 1);
        return filch_sleep(LONG) == -ECANCELED;
    }
    FILCH_SPAWN(tree, depth - 1);
    FILCH_SPAWN(tree, depth - 1);
    if (depth == DEPTH && all_can_start)
        yield_until_started(LEAVES);
    else
        filch_yield();
    n = FILCH_SYNC(tree);
    return n + FILCH_SYNC(tree);
}

static void *run_tree(void *arg)
{
    (void)arg;
    return (void *)(intptr_t)FILCH_RUN(tree, DEPTH);
}

static int in_a_tree(void)
{
    filch_fiber *f;

    atomic_store(&started, 0);
    f = filch_fiber_start(run_tree, NULL);
    yield_until_started(LEAVES);
    filch_fiber_cancel(f);
    EXPECT(join(f) == LEAVES);
    return 0;
}

/* ---- the flag, in tasks ---- */

static atomic_int undone, may_undo;

/* The first task uncancels the fiber, for all tasks. */
FILCH_TASK(int, checker, int, ignored)
{
    (void)ignored;
    atomic_fetch_add(&started, 1);
    while (!filch_fiber_is_cancelled() && !atomic_load(&undone))
        filch_yield();
    while (!atomic_load(&may_undo))
        filch_yield();
    if (filch_fiber_uncancel())
        atomic_fetch_add(&undone, 1);
    return filch_fiber_is_cancelled() || filch_sleep(FILCH_US(10)) != 0;
}

FILCH_TASK(int, checkers, int, n)
{
    int wrong = 0;

    for (int i = 0; i < n; i++)
        FILCH_SPAWN(checker, i);
    yield_until_started(n);
    for (int i = 0; i < n; i++)
        wrong += FILCH_SYNC(checker);
    return wrong + filch_fiber_is_cancelled() + (filch_sleep(FILCH_US(10)) != 0);
}

static void *run_checkers(void *arg)
{
    (void)arg;
    return (void *)(intptr_t)FILCH_RUN(checkers, TASKS);
}

static int uncancelled_in_a_task(void)
{
    filch_fiber *f;

    atomic_store(&started, 0);
    atomic_store(&undone, 0);
    atomic_store(&may_undo, 0);
    f = filch_fiber_start(run_checkers, NULL);
    yield_until_started(TASKS);
    filch_fiber_cancel(f);
    atomic_store(&may_undo, 1);
    EXPECT(join(f) == 0);
    EXPECT(atomic_load(&undone) == 1);
    return 0;
}

/* ---- tasks of other fibers ---- */

FILCH_TASK(int, waiter_task, filch_sem *, sem)
{
    atomic_fetch_add(&started, 1);
    return filch_sem_wait(sem) != 0 || filch_fiber_is_cancelled();
}

FILCH_TASK(int, waiter_tasks, filch_sem *, sem)
{
    int wrong = 0;

    for (int i = 0; i < TASKS; i++)
        FILCH_SPAWN(waiter_task, sem);
    yield_until_started(TASKS);
    for (int i = 0; i < TASKS; i++)
        wrong += FILCH_SYNC(waiter_task);
    return wrong;
}

static void *run_waiter_tasks(void *sem)
{
    return (void *)(intptr_t)FILCH_RUN(waiter_tasks, (filch_sem *)sem);
}

/* Tasks of another fiber, and tasks that later run on the same fibers, are not cancelled. */
static int not_tasks_of_other_fibers(void)
{
    filch_sem sem = {0};
    filch_fiber *f;
    static char yes;

    atomic_store(&started, 0);
    f = filch_fiber_start(run_waiter_tasks, &sem);
    yield_until_started(TASKS);
    EXPECT(cancel_sleepers(&yes, TASKS) == 0);
    filch_sem_post_n(&sem, TASKS);
    EXPECT(join(f) == 0);
    filch_sem_post_n(&sem, TASKS);
    atomic_store(&started, 0);
    EXPECT(join(filch_fiber_start(run_waiter_tasks, &sem)) == 0);
    return 0;
}

/* ---- at random times ---- */

static uint64_t seed;

static int at_random_times(void)
{
    fi_rng rng;

    fi_rng_seed(&rng, seed);
    for (int i = 0; i < SCALED(1000); i++) {
        bool is_tree = fi_rng_below(&rng, 2);
        filch_fiber *f;
        atomic_store(&started, 0);
        f = filch_fiber_start(is_tree ? run_tree : run_sleepers, NULL);
        for (uint32_t spins = fi_rng_below(&rng, 3000); spins > 0; spins--)
            fi_pause();
        if (fi_rng_below(&rng, 2))
            filch_yield();
        filch_fiber_cancel(f);
        if (fi_rng_below(&rng, 2))
            filch_fiber_cancel(f);
        EXPECT(join(f) == (is_tree ? LEAVES : TASKS));
    }
    return 0;
}

/* ---- all tests, with tasks published on request and at once ---- */

static void published_on_request(void)
{
    all_can_start = false;
    CHECK_INT(some_are_stolen(), 0);
    CHECK_INT(at_random_times(), 0);
}

static void published_at_once(void)
{
    all_can_start = true;
    CHECK_INT(some_are_stolen(), 0);
    CHECK_INT(all_are_stolen(), 0);
    CHECK_INT(in_a_tree(), 0);
    for (int i = 0; i < SCALED(100); i++) /* two tasks rarely do it at the same moment */
        CHECK_INT(uncancelled_in_a_task(), 0);
    CHECK_INT(not_tasks_of_other_fibers(), 0);
    CHECK_INT(at_random_times(), 0);
}

static void test_published_on_request(void **state)
{
    (void)state;
    seed = seed_get();
    workers_each(NULL, published_on_request);
}

static void test_published_at_once(void **state)
{
    (void)state;
    seed = seed_get();
    workers_each_with((lab_settings){.publish = "eager"}, NULL, published_at_once);
}

CHECK_MAIN(test_published_on_request, test_published_at_once)
