/* The classical job system that Filch is measured against, in all measured variants and with 1,
 * 2, 4 and 8 workers: each job runs once, before its parent is done, and all memory is freed. */
#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "classic.h"
#include "mutex_deque.h"
#include "seed.h"

enum { JOBS = 20000, INNER = 1000, WIDEST = 7 };

static const classic_choice choices[] = {{&mutex_deque, false},
                                         {&mutex_deque, true},
                                         {&fi_deque_locked, true},
                                         {&fi_deque_bounded, true}};
static const unsigned worker_counts[] = {1, 2, 4, 8};

static atomic_uchar ran[JOBS];
static atomic_int count;

static void for_each_choice(void (*test)(void))
{
    for (size_t c = 0; c < sizeof choices / sizeof choices[0]; c++) {
        for (size_t w = 0; w < sizeof worker_counts / sizeof worker_counts[0]; w++) {
            fi_mem_count before = fi_mem_live();
            CHECK(classic_start(&choices[c], worker_counts[w]) == NULL);
            test();
            classic_stop();
            CHECK_INT(fi_mem_live().blocks, before.blocks);
        }
    }
}

static void forget(void)
{
    memset(ran, 0, sizeof ran);
    atomic_store(&count, 0);
}

static void check_each_ran_once(int n)
{
    CHECK_INT(atomic_load(&count), n);
    for (int i = 0; i < n; i++)
        CHECK_INT(atomic_load(&ran[i]), 1);
}

static void run_mark(classic_job *job)
{
    atomic_fetch_add(&ran[*(int *)job->data], 1);
    atomic_fetch_add(&count, 1);
}

static void nothing(classic_job *job)
{
    (void)job;
}

/* ---- children of one job ---- */

static void make_children(classic_job *root, int n)
{
    for (int i = 0; i < n; i++) {
        classic_job *job = classic_child(root, run_mark);
        *(int *)job->data = i;
        classic_run(job);
    }
}

/* More jobs than the ring holds, so that each record is reused. */
static void single_rounds(void)
{
    for (int round = 0; round < 4; round++) {
        classic_job *root = classic_new(nothing);
        forget();
        make_children(root, JOBS);
        classic_run(root);
        classic_wait(root);
        check_each_ran_once(JOBS);
    }
}

static void test_single(void **state)
{
    (void)state;
    for_each_choice(single_rounds);
}

/* ---- a random tree ---- */

typedef struct node {
    int lo, hi; /* the numbers of this job and of all below it */
    uint64_t seed;
} node;

static uint64_t seed;

static void run_node(classic_job *job);

static void run_below(classic_job *parent, node n)
{
    classic_job *job = classic_child(parent, run_node);
    *(node *)job->data = n;
    classic_run(job);
}

/* Splits its range into parts of random sizes. */
static void run_node(classic_job *job)
{
    node n = *(node *)job->data;
    fi_rng rng;
    fi_rng_seed(&rng, n.seed);
    atomic_fetch_add(&ran[n.lo], 1);
    atomic_fetch_add(&count, 1);
    for (int lo = n.lo + 1; lo < n.hi;) {
        int size = 1 + (int)fi_rng_below(&rng, (uint32_t)((n.hi - n.lo) / WIDEST + 1));
        int hi = size < n.hi - lo ? lo + size : n.hi;
        run_below(job, (node){lo, hi, fi_rng_next(&rng)});
        lo = hi;
    }
}

static void tree_rounds(void)
{
    for (int round = 0; round < 2; round++) {
        classic_job *root = classic_new(run_node);
        *(node *)root->data = (node){0, JOBS, seed++};
        forget();
        classic_run(root);
        classic_wait(root);
        check_each_ran_once(JOBS);
    }
}

static void test_tree(void **state)
{
    (void)state;
    seed = seed_get();
    for_each_choice(tree_rounds);
}

/* ---- a wait inside a job ---- */

/* Creates jobs, waits for them, and records how many have run. */
static void run_waiter(classic_job *job)
{
    int *seen = *(int **)job->data;
    classic_job *own = classic_new(nothing);
    make_children(own, INNER);
    classic_run(own);
    classic_wait(own);
    *seen = atomic_load(&count);
}

static void nested_wait(void)
{
    int seen = 0;
    classic_job *root = classic_new(run_waiter);
    *(int **)root->data = &seen;
    forget();
    classic_run(root);
    classic_wait(root);
    CHECK_INT(seen, INNER);
    check_each_ran_once(INNER);
}

static void test_nested_wait(void **state)
{
    (void)state;
    for_each_choice(nested_wait);
}

CHECK_MAIN(test_single, test_tree, test_nested_wait)
