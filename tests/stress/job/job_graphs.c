/* Random graphs of jobs under random settings: each runs once, after all that it comes after.  Some links are made
 * while the jobs are submitted and run.  FILCH_SEED=… repeats a run's graphs and settings. */
#include "unit/job/jobs.h"

#include "base/rng.h"
#include "deque/deque.h"
#include "seed.h"

enum { JOBS = 300, LINKS = 6, SUBMITTERS = 3 };

typedef struct node {
    filch_job *job;
    uint64_t seed;
    int before[LINKS], before_n;
    atomic_int runs, began, ended;
} node;

static node nodes[JOBS];
static int nodes_n;
static int order[JOBS]; /* of submission */
static atomic_int pieces;

static void piece(void *arg)
{
    (void)arg;
    atomic_fetch_add(&pieces, 1);
}

/* Some wait, so that their fiber parks and goes on elsewhere. */
static void wait_for_pieces(uint64_t n)
{
    filch_group g = FILCH_GROUP_INIT;

    for (uint64_t i = 0; i < n; i++)
        filch_group_run(&g, piece, NULL);
    filch_group_wait(&g);
}

static void visit(void *arg)
{
    node *n = arg;

    atomic_store(&n->began, atomic_fetch_add(&ticks, 1) + 1);
    atomic_fetch_add(&n->runs, 1);
    if (n->seed % 4 == 0)
        wait_for_pieces(n->seed / 4 % 8);
    atomic_store(&n->ended, atomic_fetch_add(&ticks, 1) + 1);
}

/* Later ones come after earlier ones, so there is no circle. */
static void link_to(fi_rng *r, int i)
{
    node *n = &nodes[i];
    int before;

    if (i == 0 || n->before_n == LINKS)
        return;
    before = (int)fi_rng_below(r, (uint32_t)i);
    if (filch_job_after(n->job, nodes[before].job) == 0)
        n->before[n->before_n++] = before;
}

static void make(fi_rng *r)
{
    nodes_n = 1 + (int)fi_rng_below(r, JOBS);
    for (int i = 0; i < nodes_n; i++) {
        node *n = &nodes[i];
        memset(n, 0, sizeof *n);
        n->seed = fi_rng_next(r);
        n->job = filch_job_new(visit, n);
        CHECK(n->job != NULL);
        filch_job_set_priority(n->job, (filch_priority)fi_rng_below(r, 3));
        for (uint32_t k = fi_rng_below(r, LINKS); k > 0; k--)
            link_to(r, i);
        order[i] = i;
    }
    for (int i = nodes_n - 1; i > 0; i--) {
        int k = (int)fi_rng_below(r, (uint32_t)i + 1), t = order[i];
        order[i] = order[k];
        order[k] = t;
    }
}

static void *submit_some(void *arg)
{
    for (int i = (int)(intptr_t)arg; i < nodes_n; i += SUBMITTERS)
        CHECK_INT(filch_job_submit(nodes[order[i]].job), 0);
    return NULL;
}

static void submit_and_link(fi_rng *r)
{
    pthread_t threads[SUBMITTERS];

    for (intptr_t i = 0; i < SUBMITTERS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, submit_some, (void *)i), 0);
    for (int i = 0; i < nodes_n; i++)
        link_to(r, (int)fi_rng_below(r, (uint32_t)nodes_n));
    for (int i = 0; i < SUBMITTERS; i++)
        pthread_join(threads[i], NULL);
}

static void wait_for_all(void)
{
    for (int i = 0; i < nodes_n; i++)
        CHECK_INT(filch_job_wait(nodes[i].job), 0);
}

static void check_order(void)
{
    for (int i = 0; i < nodes_n; i++) {
        CHECK_INT(atomic_load(&nodes[i].runs), 1);
        for (int k = 0; k < nodes[i].before_n; k++)
            CHECK(atomic_load(&nodes[nodes[i].before[k]].ended) < atomic_load(&nodes[i].began));
    }
}

static filch_config random_config(fi_rng *r)
{
    static const char *const deques[] = {"batch", "locked", "bounded", "half"};

    return (filch_config){.workers = 1 + fi_rng_below(r, 8),
                          .deque = deques[fi_rng_below(r, 4)],
                          .search_ns = fi_rng_below(r, 2) ? -1 : 20000};
}

static void graphs(void **state)
{
    fi_rng r;

    (void)state;
    fi_rng_seed(&r, seed_get());
    for (int i = 0; i < SCALED(100); i++) {
        filch_config c = random_config(&r);
        size_t before = fi_mem_live().blocks;
        CHECK_INT(filch_start(&c), 0);
        for (int k = 0; k < 10; k++) {
            atomic_store(&ticks, 0);
            make(&r);
            submit_and_link(&r);
            wait_for_all();
            check_order();
        }
        CHECK_INT(filch_stop(), 0);
        CHECK_INT(fi_mem_live().blocks, before);
    }
}

CHECK_MAIN(graphs)
