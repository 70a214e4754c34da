/* Fairness: a fiber that is started or woken runs soon, while other fibers keep all workers
 * busy. */
#include "unit/fiber/helpers.h"

#include <filch/job.h>

/* The runs of a competing fiber without a run of the tested ones, after which the test fails.  That
 * is far more than a fair worker allows, even if the thread of the test waits for a CPU
 * meanwhile. */
#define RUNS_MAX SCALED(50000000)

static atomic_int ran, competitors, starved;
static atomic_bool stopping;

static void *count_run(void *arg)
{
    atomic_fetch_add(&ran, 1);
    return arg;
}

static void *count_run_when_woken(void *sem)
{
    filch_sem_wait(sem);
    return count_run(NULL);
}

typedef struct run_limit {
    int runs, seen;
} run_limit;

/* True until the test is over or has failed. */
static bool may_continue(run_limit *p)
{
    int now = atomic_load_explicit(&ran, memory_order_relaxed);

    if (atomic_load(&stopping))
        return false;
    p->runs = now == p->seen ? p->runs + 1 : 0;
    p->seen = now;
    if (p->runs < RUNS_MAX)
        return true;
    atomic_fetch_add(&starved, 1);
    return false;
}

static void reset(void)
{
    atomic_store(&ran, 0);
    atomic_store(&competitors, 0);
    atomic_store(&starved, 0);
    atomic_store(&stopping, false);
}

/* While all workers are busy: a fiber that is started, and two that are woken. */
static int check_fibers_run(void)
{
    for (int i = 0; i < 20; i++) {
        filch_sem sem = {0};
        filch_fiber *f = filch_fiber_start(count_run, NULL), *g;
        EXPECT(join(f) == 0);
        f = filch_fiber_start(count_run_when_woken, &sem);
        g = filch_fiber_start(count_run_when_woken, &sem);
        await_waiting(&sem, 2);
        filch_sem_post(&sem);
        filch_sem_post(&sem);
        EXPECT(join(f) == 0 && join(g) == 0);
    }
    EXPECT(atomic_load(&ran) == 60);
    return 0;
}

static void *check_in_fiber(void *arg)
{
    (void)arg;
    return (void *)(intptr_t)check_fibers_run();
}

static int check_in_thread_and_fiber(void)
{
    int line = check_fibers_run();

    if (line == 0) {
        atomic_store(&ran, 0);
        line = (int)join(filch_fiber_start(check_in_fiber, NULL));
    }
    atomic_store(&stopping, true);
    return line;
}

/* ---- beside fibers that yield ---- */

static void *yield_loop(void *arg)
{
    run_limit p = {0, 0};

    atomic_fetch_add(&competitors, 1);
    while (may_continue(&p))
        filch_yield();
    return arg;
}

/* Fibers with this body compete with the tested ones. */
static int beside(void *(*body)(void *), int n)
{
    enum { COMPETITORS_MAX = 17 };
    filch_fiber *f[COMPETITORS_MAX];
    int line;

    reset();
    for (int i = 0; i < n; i++)
        f[i] = filch_fiber_start(body, NULL);
    await_count(&competitors, n);
    line = check_in_thread_and_fiber();
    for (int i = 0; i < n; i++)
        EXPECT(join(f[i]) == 0);
    EXPECT(atomic_load(&starved) == 0);
    return line;
}

static int beside_yields(void)
{
    return beside(yield_loop, 2 * (int)filch_worker_count() + 1);
}

/* ---- beside pairs that wake each other ---- */

typedef struct pair {
    filch_sem side[2];
    filch_fiber *f[2];
} pair;

static void alternate(pair *p, int side)
{
    run_limit mine = {0, 0};

    atomic_fetch_add(&competitors, 1);
    while (may_continue(&mine)) {
        filch_sem_post(&p->side[!side]);
        filch_sem_wait(&p->side[side]);
    }
    filch_sem_post(&p->side[!side]);
}

static void *ping(void *arg)
{
    alternate(arg, 0);
    return NULL;
}

static void *pong(void *arg)
{
    alternate(arg, 1);
    return NULL;
}

static int beside_pairs(void)
{
    enum { COMPETITORS_MAX = 8 };
    pair all[COMPETITORS_MAX] = {0};
    int n = (int)filch_worker_count(), line;

    reset();
    for (int i = 0; i < n; i++) {
        all[i].f[0] = filch_fiber_start(ping, &all[i]);
        all[i].f[1] = filch_fiber_start(pong, &all[i]);
    }
    await_count(&competitors, 2 * n);
    line = check_in_thread_and_fiber();
    for (int i = 0; i < n; i++)
        EXPECT(join(all[i].f[0]) == 0 && join(all[i].f[1]) == 0);
    EXPECT(atomic_load(&starved) == 0);
    return line;
}

/* ---- beside work that submits more work ---- */

static filch_group group;
static run_limit members; /* shared by all members */
static filch_mutex pieces_lock;

static bool may_submit_more(void)
{
    bool more;

    filch_mutex_lock(&pieces_lock);
    more = may_continue(&members);
    filch_mutex_unlock(&pieces_lock);
    return more;
}

/* Each member submits the next before it ends, so there is always one that has not started. */
static void submit_next(void *arg)
{
    atomic_store(&competitors, 1);
    if (may_submit_more())
        filch_group_run(&group, submit_next, arg);
}

static int beside_group_members(void)
{
    int line;

    reset();
    members = (run_limit){0, 0};
    for (unsigned i = 0; i < 2 * filch_worker_count(); i++)
        EXPECT(filch_group_run(&group, submit_next, NULL) == 0);
    await_count(&competitors, 1);
    line = check_in_thread_and_fiber();
    EXPECT(filch_group_wait(&group) == 0);
    EXPECT(atomic_load(&starved) == 0);
    return line;
}

static atomic_int going;

static void go_again(void *arg)
{
    atomic_store(&competitors, 1);
    if (may_submit_more() && filch_go(go_again, arg) == 0)
        return;
    atomic_fetch_sub(&going, 1);
}

static int beside_starts(void)
{
    int line;

    reset();
    members = (run_limit){0, 0};
    atomic_store(&going, (int)filch_worker_count());
    for (unsigned i = 0; i < filch_worker_count(); i++)
        EXPECT(filch_go(go_again, NULL) == 0);
    await_count(&competitors, 1);
    line = check_in_thread_and_fiber();
    await_count(&going, 0);
    EXPECT(atomic_load(&starved) == 0);
    return line;
}

/* ---- beside tasks ---- */

static filch_mutex contended;

/* A tree of tasks of this depth.  Its leaves lock a contended mutex and yield. */
FILCH_TASK(int, tree, int, n)
{
    int a, b;

    if (n == 0) {
        filch_mutex_lock(&contended);
        filch_mutex_unlock(&contended);
        filch_yield();
        return 1;
    }
    FILCH_SPAWN(tree, n - 1);
    a = FILCH_CALL(tree, n - 1);
    b = FILCH_SYNC(tree);
    return a + b;
}

static void *run_trees(void *arg)
{
    run_limit p = {0, 0};

    atomic_fetch_add(&competitors, 1);
    while (may_continue(&p))
        if (FILCH_RUN(tree, 5) != 32)
            return &ran;
    return arg;
}

static int beside_tasks(void)
{
    return beside(run_trees, (int)filch_worker_count());
}

/* ---- round robin ---- */

enum { YIELDERS = 4, ROUNDS = 5 };

static atomic_int trace_n;
static char trace[YIELDERS * ROUNDS + 1];

static void *record_and_yield(void *mark)
{
    atomic_fetch_add(&competitors, 1);
    while (atomic_load(&competitors) < YIELDERS)
        filch_yield();
    for (int i = 0; i < ROUNDS; i++) {
        trace[atomic_fetch_add(&trace_n, 1)] = *(char *)mark;
        filch_yield();
    }
    return NULL;
}

/* On one worker no ready fiber runs twice before all others have run. */
static int round_robin(void)
{
    filch_fiber *f[YIELDERS];

    reset();
    atomic_store(&trace_n, 0);
    memset(trace, 0, sizeof trace);
    for (int i = 0; i < YIELDERS; i++)
        f[i] = filch_fiber_start(record_and_yield, (void *)&"abcd"[i]);
    for (int i = 0; i < YIELDERS; i++)
        EXPECT(join(f[i]) == 0);
    for (int i = 0; i < YIELDERS * (ROUNDS - 1); i++)
        for (int k = i + 1; k < i + YIELDERS; k++)
            EXPECT(trace[i] != trace[k]);
    return 0;
}

FROM_THREAD(beside_yields)
FROM_THREAD(beside_pairs)
FROM_THREAD(beside_group_members)
FROM_THREAD(beside_starts)
FROM_THREAD(beside_tasks)
ON_ONE_WORKER(round_robin)

/* ---- beside one fiber that yields ---- */

static atomic_int bound_runs;

static void *yield_and_count(void *arg)
{
    while (!atomic_load(&stopping)) {
        atomic_fetch_add(&bound_runs, 1);
        filch_yield();
    }
    return arg;
}

/* A bound fiber is not in the run queue, so a fiber that yields has to look for it. */
static int bound_beside_yields(void)
{
    enum { YIELDS = 100 };
    filch_fiber_attr bound = {.bound = true};
    filch_fiber *f;

    reset();
    atomic_store(&bound_runs, 0);
    f = filch_fiber_start_attr(&bound, yield_and_count, NULL);
    for (int i = 0; i < YIELDS; i++)
        filch_yield();
    EXPECT(atomic_load(&bound_runs) >= YIELDS / 4);
    atomic_store(&stopping, true);
    EXPECT(join(f) == 0);
    return 0;
}
ON_ONE_WORKER(bound_beside_yields)

static void *sleep_and_count(void *until)
{
    filch_sleep_until(*(int64_t *)until);
    return count_run(NULL);
}

/* The number of yields until a timer fires that is due, while no other fiber is ready. */
static int timer_beside_yields(void)
{
    enum { YIELDS_MAX = 10 };

    for (int round = 0; round < 20; round++) {
        int64_t until = filch_now() + FILCH_US(50);
        filch_fiber *f;
        int yields = 0;
        reset();
        f = filch_fiber_start(sleep_and_count, &until);
        filch_yield();
        while (filch_now() <= until)
            ;
        for (; atomic_load(&ran) == 0; yields++)
            filch_yield();
        EXPECT(yields <= YIELDS_MAX);
        EXPECT(join(f) == 0);
    }
    return 0;
}
ON_ONE_WORKER(timer_beside_yields)

/* ---- low priority beside high priority ---- */

static void count_job(void *arg)
{
    atomic_fetch_add((atomic_int *)arg, 1);
}

static filch_job *submit(filch_priority priority, atomic_int *runs)
{
    filch_job *j = filch_job_new(count_job, runs);

    filch_job_set_priority(j, priority);
    filch_job_submit(j);
    return j;
}

/* A high-priority job for each choice of the worker, and a low-priority job. */
static int low_beside_high_priority(void)
{
    enum { LOW_JOBS = 50, CHOICES_MAX = 100000 };
    atomic_int high = 0, low = 0;

    for (int n = 1; n <= LOW_JOBS; n++) {
        filch_job *j = submit(FILCH_PRIORITY_LOW, &low);
        for (int i = 0; i < CHOICES_MAX && atomic_load(&low) < n; i++) {
            filch_job_release(submit(FILCH_PRIORITY_HIGH, &high));
            filch_yield();
        }
        EXPECT(atomic_load(&low) == n);
        EXPECT(filch_job_wait(j) == 0);
    }
    return 0;
}
ON_ONE_WORKER(low_beside_high_priority)

CHECK_MAIN(test_beside_yields, test_beside_pairs, test_beside_group_members, test_beside_starts,
           test_beside_tasks, test_round_robin, test_bound_beside_yields, test_timer_beside_yields,
           test_low_beside_high_priority)
