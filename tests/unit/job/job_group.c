/* Groups: each function runs once, a wait returns after all of them, and errors and cancellation
 * reach the right calls. */
#include "unit/job/jobs.h"

static atomic_long ran;

static void count(void *arg)
{
    (void)arg;
    atomic_fetch_add(&ran, 1);
}

/* Runs n functions in a group. */
static void run_many(int n)
{
    filch_group g = FILCH_GROUP_INIT;

    for (int i = 0; i < n; i++)
        CHECK_INT(filch_group_run(&g, count, NULL), 0);
    CHECK_INT(filch_group_wait(&g), 0);
}

FILCH_VOID_TASK(run_many_inside, int, n)
{
    run_many(n);
}

static void each_runs_once(void)
{
    int n = SCALED(20000);

    atomic_store(&ran, 0);
    run_many(n);
    CHECK_INT(atomic_load(&ran), n);
    FILCH_RUN(run_many_inside, n);
    CHECK_INT(atomic_load(&ran), 2 * n);
    run_many(0);
}

static void *in_a_thread(void *arg)
{
    (void)arg;
    for (int i = 0; i < 50; i++)
        run_many(20);
    return NULL;
}

static void from_many_threads(void)
{
    pthread_t threads[4];

    atomic_store(&ran, 0);
    for (int i = 0; i < 4; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, in_a_thread, NULL), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(atomic_load(&ran), 4 * 50 * 20);
}

/* ---- nested ---- */

typedef struct branch {
    int depth;
    long nodes;
} branch;

static void grow(void *arg)
{
    branch *b = arg, children[3];
    filch_group g = FILCH_GROUP_INIT;

    b->nodes = 1;
    if (b->depth == 0)
        return;
    for (int i = 0; i < 3; i++) {
        children[i].depth = b->depth - 1;
        filch_group_run(&g, grow, &children[i]);
    }
    filch_group_wait(&g);
    for (int i = 0; i < 3; i++)
        b->nodes += children[i].nodes;
}

static void nested(void)
{
    branch root = {FI_UNDER_TSAN ? 5 : 8, 0};
    filch_group g = FILCH_GROUP_INIT;
    long nodes = 0, level = 1;

    for (int i = 0; i <= root.depth; i++, level *= 3)
        nodes += level;
    filch_group_run(&g, grow, &root);
    CHECK_INT(filch_group_wait(&g), 0);
    CHECK_INT(root.nodes, nodes);
}

/* ---- a gate: work that waits until the test submits a job ---- */

typedef struct gate {
    filch_job *job;
    filch_group *group; /* of the work; NULL: it does not check for cancellation */
    atomic_int begun, saw_cancel;
} gate;

static void gate_init(gate *g, filch_group *group)
{
    *g = (gate){.job = filch_job_new(nothing, NULL), .group = group};
}

static void gate_open(gate *g)
{
    filch_job_submit(g->job);
}

static void wait_for_gate(void *arg)
{
    gate *g = arg;

    atomic_fetch_add(&g->begun, 1);
    while (!filch_job_is_done(g->job)) {
        filch_job *after = filch_job_new(nothing, NULL);
        filch_job_after(after, g->job);
        filch_job_submit(after);
        filch_job_wait(after);
    }
    if (g->group && filch_group_is_cancelled(g->group))
        atomic_store(&g->saw_cancel, 1);
    count(NULL);
}

static void gate_fini(gate *g)
{
    filch_job_release(g->job);
}

static void await_started(gate *g)
{
    while (atomic_load(&g->begun) == 0)
        continue;
}

/* ---- deadlines ---- */

static void wait_too_short(filch_group *g)
{
    CHECK_INT(filch_group_wait_until(g, 0), -ETIMEDOUT);
    CHECK_INT(filch_group_wait_until(g, filch_now()), -ETIMEDOUT);
    CHECK_INT(filch_group_wait_until(g, filch_now() + FILCH_MS(2)), -ETIMEDOUT);
}

FILCH_VOID_TASK(wait_too_short_inside, filch_group *, g)
{
    wait_too_short(g);
}

static void deadlines(void)
{
    filch_group g = FILCH_GROUP_INIT;
    gate way;

    atomic_store(&ran, 0);
    gate_init(&way, NULL);
    filch_group_run(&g, wait_for_gate, &way);
    wait_too_short(&g);
    FILCH_RUN(wait_too_short_inside, &g);
    gate_open(&way);
    CHECK_INT(filch_group_wait_until(&g, filch_now() + FILCH_S(60)), 0);
    CHECK_INT(atomic_load(&ran), 1);
    CHECK_INT(filch_group_wait_until(&g, 0), 0); /* the group is empty */
    gate_fini(&way);
}

FILCH_VOID_TASK(poll_group)
{
    filch_group g = FILCH_GROUP_INIT;

    filch_group_run(&g, count, NULL);
    while (filch_group_wait_until(&g, 0) == -ETIMEDOUT)
        continue;
}

/* A fiber that polls must not keep its worker from running the work that it polls for. */
static void polling(void)
{
    atomic_store(&ran, 0);
    FILCH_RUN(poll_group);
    CHECK_INT(atomic_load(&ran), 1);
}

FILCH_VOID_TASK(wait_long, filch_group *, g)
{
    CHECK_INT(filch_group_wait_until(g, filch_now() + FILCH_S(60)), 0);
}

static void *open_soon(void *arg)
{
    gate_open(arg);
    return NULL;
}

/* The timer of a deadline that was not reached is removed. */
static void deadlines_not_reached(void)
{
    for (int i = 0; i < 20; i++) {
        filch_group g = FILCH_GROUP_INIT;
        pthread_t opener;
        gate way;

        gate_init(&way, NULL);
        filch_group_run(&g, wait_for_gate, &way);
        CHECK_INT(pthread_create(&opener, NULL, open_soon, &way), 0);
        FILCH_RUN(wait_long, &g);
        pthread_join(opener, NULL);
        gate_fini(&way);
    }
}

/* ---- several waiters of one group ---- */

static void wait_for(void *group)
{
    filch_group_wait(group);
    count(NULL);
}

static void *wait_in_thread(void *group)
{
    wait_for(group);
    return NULL;
}

static void several_waiters(void)
{
    filch_group g = FILCH_GROUP_INIT, waiters = FILCH_GROUP_INIT;
    pthread_t threads[3];
    gate way;

    atomic_store(&ran, 0);
    gate_init(&way, NULL);
    filch_group_run(&g, wait_for_gate, &way);
    for (int i = 0; i < 10; i++)
        filch_group_run(&waiters, wait_for, &g);
    for (int i = 0; i < 3; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, wait_in_thread, &g), 0);
    gate_open(&way);
    filch_group_wait(&waiters);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(atomic_load(&ran), 1 + 10 + 3);
    gate_fini(&way);
}

/* ---- a stop, while all workers sleep and a fiber is parked ---- */

static atomic_int stopped;

static void *stop(void *arg)
{
    (void)arg;
    CHECK_INT(filch_stop(), 0);
    atomic_store(&stopped, 1);
    return NULL;
}

static void wait_for_gate_once(void *arg)
{
    gate *g = arg;

    atomic_fetch_add(&g->begun, 1);
    filch_job_wait(g->job);
    count(NULL);
}

/* filch_stop() must not return before the parked fiber has run. */
static void stop_waits_for_a_parked_fiber(void **state)
{
    filch_group g = FILCH_GROUP_INIT;
    pthread_t stopper;
    gate way;

    (void)state;
    atomic_store(&ran, 0);
    atomic_store(&stopped, 0);
    gate_init(&way, NULL);
    filch_group_run(&g, wait_for_gate_once, &way);
    await_started(&way);
    CHECK_INT(pthread_create(&stopper, NULL, stop, NULL), 0);
    for (int64_t until = filch_now() + FILCH_MS(50); filch_now() < until;)
        CHECK_INT(atomic_load(&stopped), 0);
    gate_open(&way);
    pthread_join(stopper, NULL);
    CHECK_INT(atomic_load(&ran), 1);
}

/* ---- errors and cancellation ---- */

static int fail_with(void *arg)
{
    count(NULL);
    return *(int *)arg;
}

static void errors(void)
{
    filch_group g = FILCH_GROUP_INIT;
    int fine = 0, bad = -EIO;

    atomic_store(&ran, 0);
    for (int i = 0; i < 100; i++)
        filch_group_run_fallible(&g, fail_with, i == 50 ? &bad : &fine);
    CHECK_INT(filch_group_wait(&g), -EIO);
    CHECK_INT((size_t)atomic_load(&ran) + filch_group_dropped(&g), 100);
    filch_group_run_fallible(&g, fail_with, &fine); /* the group was reset */
    CHECK_INT(filch_group_wait(&g), 0);
}

static void first_error_cancels(void)
{
    filch_group g = FILCH_GROUP_INIT;
    int fine = 0, bad = -EPROTO;

    atomic_store(&ran, 0);
    filch_group_run_fallible(&g, fail_with, &bad);
    while (!filch_group_is_cancelled(&g))
        continue;
    for (int i = 0; i < 100; i++)
        filch_group_run_fallible(&g, fail_with, &fine);
    CHECK_INT(filch_group_wait(&g), -EPROTO);
    CHECK_INT(atomic_load(&ran), 1);
    CHECK_INT(filch_group_dropped(&g), 100);
    CHECK(!filch_group_is_cancelled(&g));
    filch_group_run_fallible(&g, fail_with, &bad); /* the next error cancels again */
    CHECK_INT(filch_group_wait(&g), -EPROTO);
}

static void cancel(void)
{
    filch_group g = FILCH_GROUP_INIT;
    gate way;

    atomic_store(&ran, 0);
    gate_init(&way, &g);
    filch_group_run(&g, wait_for_gate, &way);
    await_started(&way);
    filch_group_cancel(&g);
    for (int i = 0; i < 100; i++)
        filch_group_run(&g, count, NULL);
    gate_open(&way);
    CHECK_INT(filch_group_wait(&g), -ECANCELED);
    CHECK_INT(atomic_load(&way.saw_cancel), 1);
    CHECK_INT(atomic_load(&ran), 1);
    CHECK_INT(filch_group_dropped(&g), 100);
    filch_group_run(&g, count, NULL);
    CHECK_INT(filch_group_wait(&g), 0);
    CHECK_INT(atomic_load(&ran), 2);
    gate_fini(&way);
}

WITH_WORKERS(each_runs_once)
WITH_WORKERS(from_many_threads)
WITH_WORKERS(nested)
WITH_WORKERS(deadlines)
WITH_WORKERS(deadlines_not_reached)
WITH_WORKERS(polling)
WITH_WORKERS(several_waiters)
WITH_WORKERS(errors)
WITH_WORKERS(first_error_cancels)
WITH_WORKERS(cancel)

CHECK_MAIN(test_each_runs_once, test_from_many_threads, test_nested, test_deadlines,
           test_deadlines_not_reached, test_several_waiters, test_errors, test_first_error_cancels,
           test_cancel, test_polling, stop_waits_for_a_parked_fiber)
