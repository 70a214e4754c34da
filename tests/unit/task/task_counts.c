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

static filch_counters total_counters(void)
{
    filch_stats s;

    CHECK_INT(filch_stats_get(&s), 0);
    CHECK_INT(s.workers, filch_worker_count());
    return s.total;
}

/* Published tasks that other workers ran, which the public counters do not include. */
static uint64_t stolen_tasks(void)
{
    fi_runtime *rt = fi_runtime_lock_running();
    uint64_t n = 0;

    for (unsigned i = 0; i < rt->n_workers; i++)
        n += fi_load_relaxed(&rt->workers[i].counters.taken);
    fi_runtime_unlock_running();
    return n;
}

static bool eager, grows;

/* Other workers may still search for work meanwhile.  unit/observe/observe_sampler.c checks their
 * counters after they have ended. */
static void check_deque(const filch_counters *c)
{
    CHECK(c->deque_pushes >=
          c->deque_pops); /* tickets that were claimed back may still be in the deque */
    CHECK_INT(c->deque_stolen, 0);
    CHECK(c->deque_pushes >= c->published);
    CHECK(c->deque_bottom_incs >= c->deque_pushes);
}

static void check_sums(uint64_t spawns)
{
    filch_counters c = total_counters();

    CHECK_INT(c.spawned, spawns);
    CHECK_INT(c.published, c.claimed_back + stolen_tasks());
    CHECK_INT(c.run_inline, c.spawned - stolen_tasks());
    if (eager && grows)
        CHECK_INT(c.published, c.spawned);
    CHECK(c.published <= c.spawned);
    CHECK(c.stolen >= c.steals_single + 2 * c.steals_multiple);
    CHECK(c.fibers_created >= 1);
    if (filch_worker_count() == 1) {
        CHECK_INT(c.stolen, 0);
        check_deque(&c);
        CHECK(c.parks == 0 || chaos_enabled());
    }
}

/* Only counters that do not change while workers search for work. */
static void check_workers_add_up(void)
{
    filch_counters total = total_counters(), one, sum = {0};

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
        check_sums(spawns);
        CHECK_INT(FILCH_RUN(tree, 2, 40), TREE_NODES);
        spawns += TREE_SPAWNS;
        check_sums(spawns);
    }
    check_workers_add_up();
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

static void no_counters_without_a_runtime(void **state)
{
    filch_stats s;
    filch_counters c;

    (void)state;
    CHECK_INT(filch_stats_get(&s), -ESRCH);
    CHECK_INT(filch_stats_worker(0, &c), -ESRCH);
}

CHECK_MAIN(no_counters_without_a_runtime, every_deque_lazy, every_deque_eager)
