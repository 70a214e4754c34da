/* Visit all nodes of a wide tree: many open spawns at once, almost no work per node. */
#include "tree.h"
#include "bench.h"

static const char *prepare(bench_case *c)
{
    int64_t level = 1;
    c->expected = 1;
    for (int depth = 0; depth < TREE_DEPTH; depth++) {
        level *= c->size;
        c->expected += level;
    }
    c->spawns = (uint64_t)c->expected - 1; /* every node except the root */
    return NULL;
}

static const bench_input inputs[] = {
    {NULL, "the number of children of a node", 1, TREE_CHILDREN_MAX, 300, 150},
    {0},
};

const bench_workload bench_the_workload = {
    .name = "tree",
    .inputs = inputs,
    .prepare = prepare,
};
