/* The counters are exact as soon as FILCH_RUN returns, for every kind of deque, lazy and eager. */
#define FILCH_COUNT_SPAWNS
#include "fib.h"
#include "unit/task/helpers.h"

#include "sched/runtime.h"

#include <errno.h>

FILCH_TASK(long, tree, int, depth, int, children)
{
    long sum = 1;

    if (depth == 0)
        return 1;
    for (int i = 0; i < children; i++)
        FILCH_SPAWN(tree, depth - 1, children);
    for (int i = 0; i < children; i++)
        sum += FILCH_SYNC(tree);
    return sum;
}

#define FIB_N       16
#define FIB_RESULT  987
#define FIB_SPAWNS  1596 /* fib(17) - 1 */
#define TREE_NODES  (1 + 40 + 1600)
#define TREE_SPAWNS (TREE_NODES - 1)

static filch_counters counted(void)
{
    filch_stats s;

    CHECK_INT(filch_stats_get(&s), 0);
    CHECK_INT(s.workers, filch_worker_count());
    return s.total;
}

/* Published tasks that others ran: what the public counters leave out. */
static uint64_t taken(void)
{
    fi_runtime *rt = fi_runtime_lock_running();
    uint64_t n = 0;

    for (unsigned i = 0; i < rt->n_workers; i++)
        n += fi_load_relaxed(&rt->workers[i].counters.taken);
    fi_runtime_unlock_running();
    return n;
}

static bool eager, grows;

/* With more workers the others may go on looking meanwhile; unit/observe/sampler.c looks at them
 * when they have ended. */
static void deque_adds_up(const filch_counters *c)
{
    CHECK(c->deque_pushes >= c->deque_pops); /* tickets that were claimed back may still be there */
    CHECK_INT(c->deque_stolen, 0);
    CHECK(c->deque_pushes >= c->published);
    CHECK(c->deque_bottom_incs >= c->deque_pushes);
}

static void sums_add_up(uint64_t spawns)
{
    filch_counters c = counted();

    CHECK_INT(c.spawned, spawns);
    CHECK_INT(c.published, c.claimed_back + taken());
    CHECK_INT(c.run_inline, c.spawned - taken());
    if (eager && grows)
        CHECK_INT(c.published, c.spawned);
    CHECK(c.published <= c.spawned);
    CHECK(c.stolen >= c.steals_single + 2 * c.steals_multiple);
    CHECK(c.fibers_created >= 1);
    if (filch_worker_count() == 1) {
        CHECK_INT(c.stolen, 0);
        deque_adds_up(&c);
        CHECK(c.parks == 0 || has_bad_luck());
    }
}

/* Only what stands still while the workers go on looking for work. */
static void workers_are_the_total(void)
{
    filch_counters total = counted(), one, sum = {0};

    for (unsigned i = 0; i < filch_worker_count(); i++) {
        CHECK_INT(filch_stats_worker(i, &one), 0);
        sum.spawned += one.spawned;
        sum.published += one.published;
    }
    CHECK_INT(sum.spawned, total.spawned);
    CHECK_INT(sum.published, total.published);
    CHECK_INT(filch_stats_worker(filch_worker_count(), &one), -EINVAL);
}

static void run_and_count(void)
{
    uint64_t spawns = 0;

    for (int i = 0; i < SCALED(200); i++) {
        CHECK_INT(FILCH_RUN(fib, FIB_N), FIB_RESULT);
        spawns += FIB_SPAWNS;
        sums_add_up(spawns);
        CHECK_INT(FILCH_RUN(tree, 2, 40), TREE_NODES);
        spawns += TREE_SPAWNS;
        sums_add_up(spawns);
    }
    workers_are_the_total();
}

static void count_with(const char *deque, const char *publish)
{
    eager = strcmp(publish, "eager") == 0;
    grows = strcmp(deque, "batch") == 0;
    workers_each_with((lab_settings){.deque = deque, .publish = publish}, NULL, run_and_count);
}

static void every_deque_lazy(void **state)
{
    (void)state;
    for (size_t i = 0; i < LAB_DEQUES; i++)
        count_with(lab_deques[i], "lazy");
}

static void every_deque_eager(void **state)
{
    (void)state;
    for (size_t i = 0; i < LAB_DEQUES; i++)
        count_with(lab_deques[i], "eager");
}

static void nothing_to_count(void **state)
{
    filch_stats s;
    filch_counters c;

    (void)state;
    CHECK_INT(filch_stats_get(&s), -ESRCH);
    CHECK_INT(filch_stats_worker(0, &c), -ESRCH);
}

CHECK_MAIN(nothing_to_count, every_deque_lazy, every_deque_eager)
