/* Random trees of tasks of several types, with random settings.  The result equals that of a serial
 * recursion.  FILCH_SEED=… repeats the trees and settings of a run. */
#include "unit/task/helpers.h"

#include "base/rng.h"
#include "deque/deque.h"
#include "seed.h"

#include <pthread.h>

/* The seed determines the tree: each node draws its children from the seed of its parent. */
typedef struct node {
    uint64_t seed;
    int depth;
} node;

typedef struct sums {
    uint64_t nodes, hash;
} sums;

static int fan_out(fi_rng *r, node n)
{
    uint32_t dice = fi_rng_below(r, 100);

    if (n.depth == 0 || dice < 10)
        return 0;
    if (dice > 97 && n.depth == 2)
        return 100 + (int)fi_rng_below(r, 200);
    return 1 + (int)fi_rng_below(r, 4);
}

static node child_of(fi_rng *r, node n)
{
    return (node){fi_rng_next(r), n.depth - 1};
}

static void spin(fi_rng *r)
{
    uint32_t n = fi_rng_below(r, 8) == 0 ? fi_rng_below(r, 400) : 0;
    volatile uint64_t x = 1;

    for (uint32_t i = 0; i < n; i++)
        x = x * 3 + 1;
}

static sums leaf(node n)
{
    return (sums){1, n.seed};
}

/* The result depends on the order and on each child. */
static sums plus(sums a, sums b)
{
    /* NOLINTNEXTLINE: the analyser does not see that a sync writes the result of its spawn. */
    return (sums){a.nodes + b.nodes, (a.hash ^ b.hash) * 0x9E3779B97F4A7C15u + b.nodes};
}

static sums serially(node n)
{
    fi_rng r;
    sums s = leaf(n), of[300] = {{0, 0}};
    int children;

    fi_rng_seed(&r, n.seed);
    children = fan_out(&r, n);
    for (int i = 0; i < children; i++)
        of[i] = serially(child_of(&r, n));
    for (int i = children - 1; i >= 0; i--)
        s = plus(s, of[i]);
    return s;
}

/* The same by tasks of four types, which spawn each other. */
FILCH_TASK_DECL(sums, by_value, node, n);
FILCH_TASK_DECL(uint64_t, by_words, uint64_t, seed, int, depth, sums *, out);
FILCH_VOID_TASK_DECL(by_pointer, const node *, n, sums *, out);
FILCH_TASK_DECL(char, by_bulk, char, junk, node, n, double, more, sums *, out);

typedef struct child {
    node n;
    sums out;
    uint32_t type;
} child;

#define SPAWN(c)                                                                                   \
    switch ((c)->type) {                                                                           \
    case 0:                                                                                        \
        FILCH_SPAWN(by_value, (c)->n);                                                             \
        break;                                                                                     \
    case 1:                                                                                        \
        FILCH_SPAWN(by_words, (c)->n.seed, (c)->n.depth, &(c)->out);                               \
        break;                                                                                     \
    case 2:                                                                                        \
        FILCH_SPAWN(by_pointer, &(c)->n, &(c)->out);                                               \
        break;                                                                                     \
    default:                                                                                       \
        FILCH_SPAWN(by_bulk, 'x', (c)->n, 0.5, &(c)->out);                                         \
    }

#define SYNC(c)                                                                                    \
    switch ((c)->type) {                                                                           \
    case 0:                                                                                        \
        (c)->out = FILCH_SYNC(by_value);                                                           \
        break;                                                                                     \
    case 1:                                                                                        \
        if (FILCH_SYNC(by_words) != (c)->n.seed)                                                   \
            abort();                                                                               \
        break;                                                                                     \
    case 2:                                                                                        \
        FILCH_SYNC(by_pointer);                                                                    \
        break;                                                                                     \
    default:                                                                                       \
        if (FILCH_SYNC(by_bulk) != 'y')                                                            \
            abort();                                                                               \
    }

/* Some children are called, some run, most spawned.  All are synced. */
FILCH_TASK_IMPL(sums, by_value, node, n)
{
    fi_rng r, mine;
    child c[300];
    sums s = leaf(n);
    int children, called = -1;

    fi_rng_seed(&r, n.seed);
    fi_rng_seed(&mine, ~n.seed);
    children = fan_out(&r, n);
    if (children > 0 && fi_rng_below(&mine, 4) == 0)
        called = children - 1;
    for (int i = 0; i < children; i++) {
        c[i] = (child){.n = child_of(&r, n), .type = fi_rng_below(&mine, 4)};
        if (i != called) {
            SPAWN(&c[i]);
        } else if (fi_rng_below(&mine, 8) == 0) {
            c[i].out = FILCH_RUN(by_value, c[i].n);
        } else {
            c[i].out = FILCH_CALL(by_value, c[i].n);
        }
        spin(&mine);
    }
    for (int i = children - 1; i >= 0; i--) {
        if (i != called) {
            SYNC(&c[i]);
        }
        s = plus(s, c[i].out);
    }
    return s;
}

FILCH_TASK_IMPL(uint64_t, by_words, uint64_t, seed, int, depth, sums *, out)
{
    *out = FILCH_CALL(by_value, ((node){seed, depth}));
    return seed;
}

FILCH_VOID_TASK_IMPL(by_pointer, const node *, n, sums *, out)
{
    *out = FILCH_CALL(by_value, *n);
}

FILCH_TASK_IMPL(char, by_bulk, char, junk, node, n, double, more, sums *, out)
{
    *out = FILCH_CALL(by_value, n);
    return (char)(junk + (more > 0));
}

static filch_config draw_config(fi_rng *r)
{
    static const char *const search_ns[] = {"0", "20000", "40000"};
    filch_config c = {.workers = 1 + fi_rng_below(r, 8), .stack_size = (size_t)1 << 20};
    lab_settings lab = {.deque = lab_deques[fi_rng_below(r, LAB_DEQUES)],
                        .publish = fi_rng_below(r, 3) == 0 ? "eager" : "lazy",
                        .search_ns = search_ns[fi_rng_below(r, 3)]};

    if (strcmp(lab.deque, "bounded") != 0)
        lab.steal_batch = 1 + fi_rng_below(r, 64);
    set_lab_settings(lab);
    return c;
}

typedef struct job {
    node root;
    sums wanted, got;
} job;

static void *run(void *arg)
{
    job *j = arg;

    j->got = FILCH_RUN(by_value, j->root);
    return NULL;
}

static void run_together(job *jobs, unsigned n)
{
    pthread_t threads[4];

    for (unsigned i = 0; i < n; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, run, &jobs[i]), 0);
    for (unsigned i = 0; i < n; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
    for (unsigned i = 0; i < n; i++) {
        CHECK_INT(jobs[i].got.nodes, jobs[i].wanted.nodes);
        CHECK_INT(jobs[i].got.hash, jobs[i].wanted.hash);
    }
}

static void one_runtime(fi_rng *r)
{
    filch_config c = draw_config(r);
    job jobs[4];

    CHECK_INT(filch_start(&c), 0);
    for (int round = 0; round < 4; round++) {
        unsigned n = 1 + fi_rng_below(r, 4);

        for (unsigned i = 0; i < n; i++) {
            jobs[i].root = (node){fi_rng_next(r), 4 + (int)fi_rng_below(r, 8)};
            jobs[i].wanted = serially(jobs[i].root);
        }
        run_together(jobs, n);
    }
    CHECK_INT(filch_stop(), 0);
}

static void random_trees(void **state)
{
    size_t before = fi_mem_live().blocks;
    fi_rng r;

    (void)state;
    fi_rng_seed(&r, seed_get());
    for (int i = 0; i < SCALED(300); i++) {
        one_runtime(&r);
        CHECK_INT(fi_mem_live().blocks, before);
    }
}

CHECK_MAIN(random_trees)
