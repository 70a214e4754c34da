/* A sync of a stolen task parks the fiber: no other work runs on top of a waiting stack.
 *
 * These programs deadlock in a runtime whose waiters run other work: a task holds a lock over its
 * sync, and the other work needs the same lock.  Or they overflow the stack: each wait runs work
 * that waits again, on the same stack. */
#include "unit/task/helpers.h"

#include "sched/worker.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

/* Gives other workers time to steal. */
static void spin(unsigned n)
{
    for (volatile unsigned i = 0; i < n; i++)
        ;
}

/* ---- no work on top of a waiting stack ---- */

/* The number of task bodies on the stack of a fiber.  Fibers are not freed before the runtime
 * stops. */
typedef struct on_fiber {
    _Atomic(void *) fiber;
    atomic_long depth;
} on_fiber;

#define FIBERS_MAX 4096
static on_fiber fibers[FIBERS_MAX];
static atomic_long strangers;

static on_fiber *fiber_record(void)
{
    void *fiber = fi_load_relaxed(&fi_worker_self()->current);
    size_t i = ((uintptr_t)fiber >> 6) % FIBERS_MAX;

    for (size_t n = 0; n < FIBERS_MAX; n++, i = (i + 1) % FIBERS_MAX) {
        void *seen = NULL;

        if (atomic_compare_exchange_strong(&fibers[i].fiber, &seen, fiber) || seen == fiber)
            return &fibers[i];
    }
    abort();
}

/* `below` is the number of bodies up to the spawner, inclusive.  A stolen task starts on an empty
 * fiber.  A task that its sync runs finds `below` bodies.  Any other number shows unrelated work on
 * the stack. */
FILCH_TASK(long, nested, int, depth, long, below)
{
    on_fiber *f = fiber_record();
    long found = atomic_fetch_add(&f->depth, 1), sum = 1;

    if (found != 0 && found != below)
        atomic_fetch_add(&strangers, 1);
    if (depth > 0) {
        for (int i = 0; i < 3; i++)
            FILCH_SPAWN(nested, depth - 1, found + 1);
        spin(50);
        for (int i = 0; i < 3; i++)
            sum += FILCH_SYNC(nested);
    }
    if (fiber_record() != f)
        abort(); /* a body stays on its fiber, on any worker */
    atomic_fetch_sub(&f->depth, 1);
    return sum;
}

static void no_unrelated_task_on_top(void)
{
    int depth = FI_UNDER_ASAN || FI_UNDER_TSAN ? 6 : 9;
    long nodes = 0;

    for (int i = 0; i <= depth; i++)
        nodes = nodes * 3 + 1;
    for (size_t i = 0; i < FIBERS_MAX; i++) {
        atomic_store(&fibers[i].fiber, NULL);
        atomic_store(&fibers[i].depth, 0);
    }
    CHECK_INT(FILCH_RUN(nested, depth, 0L), nodes);
    CHECK_INT(atomic_load(&strangers), 0);
}

/* ---- a lock over a sync ---- */

static atomic_flag lock = ATOMIC_FLAG_INIT;
static atomic_int child_begun, other_begun;

FILCH_VOID_TASK(nothing)
{
}

/* Ends when another task waits for the lock that the spawner holds. */
FILCH_TASK(int, child, int, n)
{
    atomic_store(&child_begun, 1);
    while (!atomic_load(&other_begun))
        sched_yield();
    return n + 1;
}

/* Waits for the child while it holds the lock.  It syncs only after another worker has the child.
 * Until then it spawns, because a task is published by its spawner's next spawn or sync. */
FILCH_TASK(int, holder, int, n)
{
    while (atomic_flag_test_and_set(&lock))
        sched_yield();
    FILCH_SPAWN(child, n);
    while (!atomic_load(&child_begun)) {
        FILCH_SPAWN(nothing);
        FILCH_SYNC(nothing);
    }
    n = FILCH_SYNC(child);
    atomic_flag_clear(&lock);
    return n;
}

FILCH_TASK(int, other, int, n)
{
    atomic_store(&other_begun, 1);
    while (atomic_flag_test_and_set(&lock))
        sched_yield();
    atomic_flag_clear(&lock);
    return n + 2;
}

static void *run_other(void *sum)
{
    while (!atomic_load(&child_begun))
        sched_yield();
    *(int *)sum = FILCH_RUN(other, 1);
    return NULL;
}

/* With two workers, one runs the child.  The other must both wait in the holder and start the task
 * that needs the lock.  On the holder's stack that would deadlock. */
static void a_lock_is_held_over_a_sync(void)
{
    pthread_t thread;
    int sum = 0;

    if (filch_worker_count() < 2)
        return;
    for (int i = 0; i < SCALED(100); i++) {
        atomic_store(&child_begun, 0);
        atomic_store(&other_begun, 0);
        CHECK_INT(pthread_create(&thread, NULL, run_other, &sum), 0);
        CHECK_INT(FILCH_RUN(holder, 1), 2);
        CHECK_INT(pthread_join(thread, NULL), 0);
        CHECK_INT(sum, 3);
    }
}

/* ---- waits do not nest on a stack ---- */

FILCH_TASK(long, waits, int, depth)
{
    long sum;

    spin(100);
    if (depth == 0)
        return 1;
    FILCH_SPAWN(waits, depth - 1);
    FILCH_SPAWN(waits, depth - 1);
    spin(100);
    sum = FILCH_SYNC(waits);
    return sum + FILCH_SYNC(waits);
}

FILCH_TASK(long, many_waits, int, n)
{
    long sum = 0;

    for (int i = 0; i < n; i++)
        FILCH_SPAWN(waits, 3);
    for (int i = 0; i < n; i++)
        sum += FILCH_SYNC(waits);
    return sum;
}

/* A hundred thousand tasks on stacks that hold a few dozen frames. */
static void waits_do_not_nest(void)
{
    int n = SCALED(100000) / 15;

    CHECK_INT(FILCH_RUN(many_waits, n), 8L * n);
}

static void lazy_and_eager(filch_config c, void (*test)(void))
{
    workers_each(&c, test);
    workers_each_with((lab_settings){.publish = "eager"}, &c, test);
}

static void no_other_work_on_a_waiting_stack(void **state)
{
    (void)state;
    lazy_and_eager((filch_config){0}, no_unrelated_task_on_top);
}

static void locks(void **state)
{
    (void)state;
    lazy_and_eager((filch_config){0}, a_lock_is_held_over_a_sync);
}

static void small_stacks(void **state)
{
    size_t size = FI_UNDER_ASAN || FI_UNDER_TSAN ? 65536 : 16384;

    (void)state;
    lazy_and_eager((filch_config){.stack_size = size}, waits_do_not_nest);
}

CHECK_MAIN(no_other_work_on_a_waiting_stack, locks, small_stacks)
