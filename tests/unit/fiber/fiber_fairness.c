/* Fairness: a fiber that is started or woken runs soon, whatever the other fibers do. */
#include "unit/fiber/helpers.h"

#include <filch/job.h>

/* Turns of each that is in the way, while nobody else has one: far more than a fair worker gives it, even if the thread that
 * brings the others waits for a processor meanwhile; and still an end. */
#define PATIENCE SCALED(50000000)

static atomic_int ran, in_the_way, lost_patience;
static atomic_bool over;

static void *have_turn(void *arg)
{
    atomic_fetch_add(&ran, 1);
    return arg;
}

static void *have_turn_when_woken(void *sem)
{
    filch_sem_wait(sem);
    return have_turn(NULL);
}

typedef struct patience {
    int turns, seen;
} patience;

/* True as long as it is to go on. */
static bool goes_on(patience *p)
{
    int now = atomic_load_explicit(&ran, memory_order_relaxed);

    if (atomic_load(&over))
        return false;
    p->turns = now == p->seen ? p->turns + 1 : 0;
    p->seen = now;
    if (p->turns < PATIENCE)
        return true;
    atomic_fetch_add(&lost_patience, 1);
    return false;
}

static void begin(void)
{
    atomic_store(&ran, 0);
    atomic_store(&in_the_way, 0);
    atomic_store(&lost_patience, 0);
    atomic_store(&over, false);
}

/* From a thread, while all workers are busy: one that is started, one that is woken, one that sleeps. */
static int have_turns(void)
{
    for (int i = 0; i < 20; i++) {
        filch_sem sem = {0};
        filch_fiber *f = filch_fiber_start(have_turn, NULL), *g;
        SAY(join(f) == 0);
        f = filch_fiber_start(have_turn_when_woken, &sem);
        g = filch_fiber_start(have_turn_when_woken, &sem);
        await_waiting(&sem, 2);
        filch_sem_post(&sem);
        filch_sem_post(&sem);
        SAY(join(f) == 0 && join(g) == 0);
    }
    SAY(atomic_load(&ran) == 60);
    return 0;
}

static void *have_turns_in_fiber(void *arg)
{
    (void)arg;
    return (void *)(intptr_t)have_turns();
}

static int have_turns_everywhere(void)
{
    int line = have_turns();

    if (line == 0) {
        atomic_store(&ran, 0);
        line = (int)join(filch_fiber_start(have_turns_in_fiber, NULL));
    }
    atomic_store(&over, true);
    return line;
}

/* ---- beside those that yield ---- */

static void *spin(void *arg)
{
    patience p = {0, 0};

    atomic_fetch_add(&in_the_way, 1);
    while (goes_on(&p))
        filch_yield();
    return arg;
}

static int beside_yields(void)
{
    enum { MOST = 17 };
    filch_fiber *f[MOST];
    int n = 2 * (int)filch_worker_count() + 1, line;

    begin();
    for (int i = 0; i < n; i++)
        f[i] = filch_fiber_start(spin, NULL);
    await_count(&in_the_way, n);
    line = have_turns_everywhere();
    for (int i = 0; i < n; i++)
        SAY(join(f[i]) == 0);
    SAY(atomic_load(&lost_patience) == 0);
    return line;
}

/* ---- beside pairs that wake each other ---- */

typedef struct pair {
    filch_sem side[2];
    filch_fiber *f[2];
} pair;

static void play(pair *p, int side)
{
    patience mine = {0, 0};

    atomic_fetch_add(&in_the_way, 1);
    while (goes_on(&mine)) {
        filch_sem_post(&p->side[!side]);
        filch_sem_wait(&p->side[side]);
    }
    filch_sem_post(&p->side[!side]);
}

static void *ping(void *arg)
{
    play(arg, 0);
    return NULL;
}

static void *pong(void *arg)
{
    play(arg, 1);
    return NULL;
}

static int beside_pairs(void)
{
    enum { MOST = 8 };
    pair all[MOST] = {0};
    int n = (int)filch_worker_count(), line;

    begin();
    for (int i = 0; i < n; i++) {
        all[i].f[0] = filch_fiber_start(ping, &all[i]);
        all[i].f[1] = filch_fiber_start(pong, &all[i]);
    }
    await_count(&in_the_way, 2 * n);
    line = have_turns_everywhere();
    for (int i = 0; i < n; i++)
        SAY(join(all[i].f[0]) == 0 && join(all[i].f[1]) == 0);
    SAY(atomic_load(&lost_patience) == 0);
    return line;
}

/* ---- beside work that makes more work ---- */

static filch_group group;
static patience pieces; /* of all of them */
static filch_mutex pieces_lock;

static bool more_pieces(void)
{
    bool more;

    filch_mutex_lock(&pieces_lock);
    more = goes_on(&pieces);
    filch_mutex_unlock(&pieces_lock);
    return more;
}

/* Each piece makes the next before it ends, so there always is one that never ran. */
static void make_more(void *arg)
{
    atomic_store(&in_the_way, 1);
    if (more_pieces())
        filch_group_run(&group, make_more, arg);
}

static int beside_pieces(void)
{
    int line;

    begin();
    pieces = (patience){0, 0};
    for (unsigned i = 0; i < 2 * filch_worker_count(); i++)
        SAY(filch_group_run(&group, make_more, NULL) == 0);
    await_count(&in_the_way, 1);
    line = have_turns_everywhere();
    SAY(filch_group_wait(&group) == 0);
    SAY(atomic_load(&lost_patience) == 0);
    return line;
}

static atomic_int going;

static void go_again(void *arg)
{
    atomic_store(&in_the_way, 1);
    if (more_pieces() && filch_go(go_again, arg) == 0)
        return;
    atomic_fetch_sub(&going, 1);
}

static int beside_starts(void)
{
    int line;

    begin();
    pieces = (patience){0, 0};
    atomic_store(&going, (int)filch_worker_count());
    for (unsigned i = 0; i < filch_worker_count(); i++)
        SAY(filch_go(go_again, NULL) == 0);
    await_count(&in_the_way, 1);
    line = have_turns_everywhere();
    await_count(&going, 0);
    SAY(atomic_load(&lost_patience) == 0);
    return line;
}

/* ---- beside tasks ---- */

static filch_mutex contended;

/* A tree of tasks as deep as the number, whose leaves now and then wait. */
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

static void *grow_trees(void *arg)
{
    patience p = {0, 0};

    atomic_fetch_add(&in_the_way, 1);
    while (goes_on(&p))
        if (FILCH_RUN(tree, 5) != 32)
            return &ran;
    return arg;
}

static int beside_tasks(void)
{
    enum { MOST = 8 };
    filch_fiber *f[MOST];
    int n = (int)filch_worker_count(), line;

    begin();
    for (int i = 0; i < n; i++)
        f[i] = filch_fiber_start(grow_trees, NULL);
    await_count(&in_the_way, n);
    line = have_turns_everywhere();
    for (int i = 0; i < n; i++)
        SAY(join(f[i]) == 0);
    SAY(atomic_load(&lost_patience) == 0);
    return line;
}

/* ---- a turn is a turn ---- */

enum { PLAYERS = 4, ROUNDS = 5 };

static atomic_int trace_n;
static char trace[PLAYERS * ROUNDS + 1];

static void *play_rounds(void *mark)
{
    atomic_fetch_add(&in_the_way, 1);
    while (atomic_load(&in_the_way) < PLAYERS)
        filch_yield();
    for (int i = 0; i < ROUNDS; i++) {
        trace[atomic_fetch_add(&trace_n, 1)] = *(char *)mark;
        filch_yield();
    }
    return NULL;
}

/* On one worker nobody that is ready has a second turn before all others had one. */
static int in_turn(void)
{
    filch_fiber *f[PLAYERS];

    begin();
    atomic_store(&trace_n, 0);
    memset(trace, 0, sizeof trace);
    for (int i = 0; i < PLAYERS; i++)
        f[i] = filch_fiber_start(play_rounds, (void *)&"abcd"[i]);
    for (int i = 0; i < PLAYERS; i++)
        SAY(join(f[i]) == 0);
    for (int i = 0; i < PLAYERS * (ROUNDS - 1); i++)
        for (int k = i + 1; k < i + PLAYERS; k++)
            SAY(trace[i] != trace[k]);
    return 0;
}

FROM_THREAD(beside_yields)
FROM_THREAD(beside_pairs)
FROM_THREAD(beside_pieces)
FROM_THREAD(beside_starts)
FROM_THREAD(beside_tasks)
ON_ONE_WORKER(in_turn)

/* ---- beside what is urgent ---- */

static void note_turn(void *arg)
{
    atomic_fetch_add((atomic_int *)arg, 1);
}

static filch_job *submit(filch_priority priority, atomic_int *turns)
{
    filch_job *j = filch_job_new(note_turn, turns);

    filch_job_set_priority(j, priority);
    filch_job_submit(j);
    return j;
}

/* Something urgent for each look that a fiber makes the worker take, and a job that can wait. */
static int low_beside_urgent(void)
{
    enum { LOW_JOBS = 50, LOOKS = 100000 };
    atomic_int urgent = 0, low = 0;

    for (int n = 1; n <= LOW_JOBS; n++) {
        filch_job *j = submit(FILCH_PRIORITY_LOW, &low);
        for (int i = 0; i < LOOKS && atomic_load(&low) < n; i++) {
            filch_job_release(submit(FILCH_PRIORITY_HIGH, &urgent));
            filch_yield();
        }
        SAY(atomic_load(&low) == n);
        SAY(filch_job_wait(j) == 0);
    }
    return 0;
}
ON_ONE_WORKER(low_beside_urgent)

CHECK_MAIN(test_beside_yields, test_beside_pairs, test_beside_pieces, test_beside_starts,
           test_beside_tasks, test_in_turn, test_low_beside_urgent)
