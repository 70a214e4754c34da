/* Random graphs of jobs under random settings: each job runs once, after its dependencies.  Some
 * edges are added while the jobs are submitted and run.  FILCH_SEED=… repeats the graphs and
 * settings of a run.  Threads that close a cycle together: one of them gets -ELOOP, and all jobs
 * run. */
#include "unit/job/jobs.h"

#include "base/rng.h"
#include "seed.h"

#include <fcntl.h>
#include <unistd.h>

enum { JOBS = 300, MAX_DEPS = 6, SUBMITTERS = 3 };

typedef struct node {
    filch_job *job;
    uint64_t seed;
    int deps[MAX_DEPS], n_deps;
    atomic_int runs, began, ended;
} node;

static node nodes[JOBS];
static int nodes_n;
static int order[JOBS]; /* of submission */
static atomic_int pieces;

static void count_piece(void *arg)
{
    (void)arg;
    atomic_fetch_add(&pieces, 1);
}

/* Some jobs wait, so that their fibers park and migrate. */
static void wait_for_pieces(uint64_t n)
{
    filch_group g = FILCH_GROUP_INIT;

    for (uint64_t i = 0; i < n; i++)
        filch_group_run(&g, count_piece, NULL);
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

/* Later jobs depend on earlier ones, so there is no cycle. */
static void add_dep(fi_rng *r, int i)
{
    node *n = &nodes[i];
    int dependency;

    if (i == 0 || n->n_deps == MAX_DEPS)
        return;
    dependency = (int)fi_rng_below(r, (uint32_t)i);
    if (filch_job_after(n->job, nodes[dependency].job) == 0)
        n->deps[n->n_deps++] = dependency;
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
        for (uint32_t k = fi_rng_below(r, MAX_DEPS); k > 0; k--)
            add_dep(r, i);
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

static void submit_and_add_deps(fi_rng *r)
{
    pthread_t threads[SUBMITTERS];

    for (intptr_t i = 0; i < SUBMITTERS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, submit_some, (void *)i), 0);
    for (int i = 0; i < nodes_n; i++)
        add_dep(r, (int)fi_rng_below(r, (uint32_t)nodes_n));
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
        for (int k = 0; k < nodes[i].n_deps; k++)
            CHECK(atomic_load(&nodes[nodes[i].deps[k]].ended) < atomic_load(&nodes[i].began));
    }
}

static filch_config random_config(fi_rng *r)
{
    set_lab_settings((lab_settings){.deque = lab_deques[fi_rng_below(r, LAB_DEQUES)],
                                    .search_ns = fi_rng_below(r, 2) ? "0" : "20000"});
    return (filch_config){.workers = 1 + fi_rng_below(r, 8)};
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
            submit_and_add_deps(&r);
            wait_for_all();
            check_order();
        }
        CHECK_INT(filch_stop(), 0);
        CHECK_INT(fi_mem_live().blocks, before);
    }
}

/* ---- cycles ---- */

enum { MAX_RING = 4 };

static filch_job *ring[MAX_RING];
static int ring_size, ring_errors[MAX_RING];
static pthread_barrier_t ring_barrier;

/* Each thread adds one edge of the ring. */
static void *close_ring(void *arg)
{
    int i = (int)(intptr_t)arg;

    pthread_barrier_wait(&ring_barrier);
    ring_errors[i] = filch_job_after(ring[i], ring[(i + 1) % ring_size]);
    return NULL;
}

/* With an edge before, the edge of the ring is not the one in the job's record. */
static void close_one_ring(bool has_edge)
{
    filch_job *first = filch_job_new(nothing, NULL);
    pthread_t threads[MAX_RING];
    int refused = 0;

    for (int i = 0; i < ring_size; i++) {
        ring[i] = filch_job_new(nothing, NULL);
        if (has_edge)
            CHECK_INT(filch_job_after(ring[i], first), 0);
    }
    for (intptr_t i = 0; i < ring_size; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, close_ring, (void *)i), 0);
    for (int i = 0; i < ring_size; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(filch_job_submit(first), 0);
    for (int i = 0; i < ring_size; i++) {
        CHECK(ring_errors[i] == 0 || ring_errors[i] == -ELOOP);
        refused += ring_errors[i] != 0;
        CHECK_INT(filch_job_submit(ring[i]), 0);
    }
    CHECK_INT(refused, 1);
    for (int i = 0; i < ring_size; i++)
        CHECK_INT(filch_job_wait(ring[i]), 0);
    CHECK_INT(filch_job_wait(first), 0);
}

static void cycles_closed_together(void **state)
{
    int saved = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    (void)state;
    CHECK(saved >= 0 && null >= 0);
    dup2(null, STDERR_FILENO); /* each cycle is reported */
    CHECK_INT(filch_start(NULL), 0);
    for (int i = 0; i < SCALED(1500); i++) {
        ring_size = 2 + i % (MAX_RING - 1);
        CHECK_INT(pthread_barrier_init(&ring_barrier, NULL, (unsigned)ring_size), 0);
        close_one_ring(i % 2);
        pthread_barrier_destroy(&ring_barrier);
    }
    CHECK_INT(filch_stop(), 0);
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(null);
}

CHECK_MAIN(graphs, cycles_closed_together)
