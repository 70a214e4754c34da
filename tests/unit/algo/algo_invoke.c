/* filch_invoke calls each function once and returns when all have returned. */
#include "unit/task/helpers.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

static atomic_int called[8];

#define FUNCTION(n)                                                                                \
    static void f##n(void)                                                                         \
    {                                                                                              \
        atomic_fetch_add(&called[n], 1);                                                           \
    }
FUNCTION(0)
FUNCTION(1)
FUNCTION(2)
FUNCTION(3)
FUNCTION(4)

/* Check how often each of the first n functions was called. */
static bool called_each(int n, int times)
{
    bool right = true;

    for (int i = 0; i < 8; i++) {
        right = right && called[i] == (i < n ? times : 0);
        atomic_store(&called[i], 0);
    }
    return right;
}

static void each_once(void)
{
    for (int i = 0; i < SCALED(1000); i++) {
        filch_invoke(f0);
        CHECK(called_each(1, 1));
        filch_invoke(f0, f1);
        CHECK(called_each(2, 1));
        filch_invoke(f0, &f1, f2, f3, f4);
        CHECK(called_each(5, 1));
        filch_invoke(f0, f1, f1, f0);
        CHECK(called_each(2, 2));
    }
}

#define TEN f0, f1, f2, f3, f4, f4, f3, f2, f1, f0
static void many(void)
{
    filch_invoke(TEN, TEN, TEN, TEN, TEN, TEN, TEN, TEN, TEN, TEN);
    CHECK(called_each(5, 20));
}

/* ---- with a context ---- */

static void add_one(void *ctx)
{
    atomic_fetch_add((atomic_int *)ctx, 1);
}

static void add_ten(void *ctx)
{
    atomic_fetch_add((atomic_int *)ctx, 10);
}

static void with_context(void)
{
    atomic_int sum = 0;
    atomic_int *at[2] = {&sum, &sum};
    int evaluated = 0;

    filch_invoke_with(&sum, add_one);
    CHECK_INT(sum, 1);
    filch_invoke_with(at[evaluated++], add_one, add_ten, add_ten);
    CHECK_INT(sum, 22);
    CHECK_INT(evaluated, 1);
}

/* ---- nested, and from tasks and threads ---- */

static void outer(void)
{
    filch_invoke(f0, f1, f2);
}

FILCH_VOID_TASK(in_tasks, int, depth)
{
    if (depth == 0) {
        filch_invoke(outer, f3);
        return;
    }
    FILCH_SPAWN(in_tasks, depth - 1);
    FILCH_CALL(in_tasks, depth - 1);
    FILCH_SYNC(in_tasks);
}

static void nested(void)
{
    for (int i = 0; i < SCALED(100); i++) {
        filch_invoke(outer, outer, outer);
        CHECK(called_each(3, 3));
        FILCH_RUN(in_tasks, 5);
        CHECK(called_each(4, 32));
    }
}

static void *in_thread(void *arg)
{
    for (int i = 0; i < 100; i++)
        filch_invoke(outer, f3);
    return arg;
}

static void from_threads(void)
{
    pthread_t thread[4];

    for (int i = 0; i < 4; i++)
        CHECK_INT(pthread_create(&thread[i], NULL, in_thread, NULL), 0);
    for (int i = 0; i < 4; i++)
        CHECK_INT(pthread_join(thread[i], NULL), 0);
    CHECK(called_each(4, 400));
}

/* ---- in parallel: each function waits for the other ---- */

#ifdef FILCH_SERIAL
SKIP_IN_SERIAL(runs_in_parallel, "second worker")
#else
static atomic_int arrived;

static void meet(void)
{
    atomic_fetch_add(&arrived, 1);
    while (atomic_load(&arrived) < 2)
        sched_yield();
}

static void runs_in_parallel(void **state)
{
    (void)state;
    CHECK_INT(filch_start(&(filch_config){.workers = 2}), 0);
    for (int i = 0; i < SCALED(500); i++) {
        atomic_store(&arrived, 0);
        filch_invoke(meet, meet);
    }
    CHECK_INT(filch_stop(), 0);
}
#endif

#define EACH(name)                                                                                 \
    static void name##_each(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        workers_each(NULL, name);                                                                  \
    }
EACH(each_once)
EACH(many)
EACH(with_context)
EACH(nested)
EACH(from_threads)

CHECK_MAIN(each_once_each, many_each, with_context_each, nested_each, from_threads_each,
           runs_in_parallel)
