/* Cancelling a fiber reaches its tasks, on whichever fibers they run, at every number of
 * workers, and reaches no other tasks. */
#include "unit/fiber/helpers.h"

#include "base/rng.h"
#include "seed.h"

#include <filch/task.h>

enum { TASKS = 8 };

/* A sleep that is not cancelled ends without an error, so that a cancellation that gets lost is seen. */
#define LONG FILCH_S(30)

static atomic_int started;

/* Without a wait that could be cancelled. */
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

/* How many were cancelled.  all_first: it goes on to sync when all have begun, each on another fiber. */
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
    SAY(join(f) == TASKS);
    return 0;
}

/* Some run on the fiber itself, and some do not, as it happens. */
static int some_are_stolen(void)
{
    SAY(cancel_sleepers(NULL, 1) == 0);
    SAY(cancel_sleepers(NULL, 0) == 0);
    return 0;
}

static int all_are_stolen(void)
{
    static char yes;

    SAY(cancel_sleepers(&yes, TASKS) == 0);
    SAY(cancel_sleepers(&yes, 1) == 0);
    SAY(cancel_sleepers(&yes, 0) == 0);
    return 0;
}

/* ---- a tree: its leaves are stolen from thieves ---- */

enum { DEPTH = 3, LEAVES = 1 << DEPTH };

static bool all_can_begin; /* as each task is published at once */

FILCH_TASK(int, tree, int, depth)
{
    int n;

    if (depth == 0) {
        atomic_fetch_add(&started, 1);
        return filch_sleep(LONG) == -ECANCELED;
    }
    FILCH_SPAWN(tree, depth - 1);
    FILCH_SPAWN(tree, depth - 1);
    if (depth == DEPTH && all_can_begin)
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
    SAY(join(f) == LEAVES);
    return 0;
}

/* ---- the flag, in tasks ---- */

static atomic_int undone, may_undo;

/* The first to come undoes the cancellation, for all. */
FILCH_TASK(int, seer, int, ignored)
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

FILCH_TASK(int, seers, int, n)
{
    int wrong = 0;

    for (int i = 0; i < n; i++)
        FILCH_SPAWN(seer, i);
    yield_until_started(n);
    for (int i = 0; i < n; i++)
        wrong += FILCH_SYNC(seer);
    return wrong + filch_fiber_is_cancelled() + (filch_sleep(FILCH_US(10)) != 0);
}

static void *run_seers(void *arg)
{
    (void)arg;
    return (void *)(intptr_t)FILCH_RUN(seers, TASKS);
}

static int undone_in_a_task(void)
{
    filch_fiber *f;

    atomic_store(&started, 0);
    atomic_store(&undone, 0);
    atomic_store(&may_undo, 0);
    f = filch_fiber_start(run_seers, NULL);
    yield_until_started(TASKS);
    filch_fiber_cancel(f);
    atomic_store(&may_undo, 1);
    SAY(join(f) == 0);
    SAY(atomic_load(&undone) == 1);
    return 0;
}

/* ---- no others ---- */

FILCH_TASK(int, passer, filch_sem *, sem)
{
    atomic_fetch_add(&started, 1);
    return filch_sem_wait(sem) != 0 || filch_fiber_is_cancelled();
}

FILCH_TASK(int, passers, filch_sem *, sem)
{
    int wrong = 0;

    for (int i = 0; i < TASKS; i++)
        FILCH_SPAWN(passer, sem);
    yield_until_started(TASKS);
    for (int i = 0; i < TASKS; i++)
        wrong += FILCH_SYNC(passer);
    return wrong;
}

static void *run_passers(void *sem)
{
    return (void *)(intptr_t)FILCH_RUN(passers, (filch_sem *)sem);
}

/* Those of another fiber, and those that later run on the fibers that were cancelled. */
static int not_those_of_others(void)
{
    filch_sem sem = {0};
    filch_fiber *f;
    static char yes;

    atomic_store(&started, 0);
    f = filch_fiber_start(run_passers, &sem);
    yield_until_started(TASKS);
    SAY(cancel_sleepers(&yes, TASKS) == 0);
    filch_sem_post_n(&sem, TASKS);
    SAY(join(f) == 0);
    filch_sem_post_n(&sem, TASKS);
    atomic_store(&started, 0);
    SAY(join(filch_fiber_start(run_passers, &sem)) == 0);
    return 0;
}

/* ---- at any moment ---- */

static uint64_t seed;

static int at_any_moment(void)
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
        SAY(join(f) == (is_tree ? LEAVES : TASKS));
    }
    return 0;
}

/* ---- all of it, with tasks published on request, and at once ---- */

static void published_when_asked(void)
{
    all_can_begin = false;
    CHECK_INT(some_are_stolen(), 0);
    CHECK_INT(at_any_moment(), 0);
}

static void published_at_once(void)
{
    all_can_begin = true;
    CHECK_INT(some_are_stolen(), 0);
    CHECK_INT(all_are_stolen(), 0);
    CHECK_INT(in_a_tree(), 0);
    CHECK_INT(undone_in_a_task(), 0);
    CHECK_INT(not_those_of_others(), 0);
    CHECK_INT(at_any_moment(), 0);
}

static void test_when_asked(void **state)
{
    (void)state;
    seed = seed_get();
    workers_each(NULL, published_when_asked);
}

static void test_at_once(void **state)
{
    (void)state;
    seed = seed_get();
    workers_each_with((lab_settings){.publish = "eager"}, NULL, published_at_once);
}

CHECK_MAIN(test_when_asked, test_at_once)
