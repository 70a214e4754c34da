#include "bench.h"
#include "tree.h"

static long visit(int depth, int children)
{
    tree_touch();
    if (depth == 0)
        return 1;
    long below[TREE_CHILDREN_MAX];
    for (int i = 0; i < children; i++)
#pragma omp task shared(below)
        below[i] = visit(depth - 1, children);
#pragma omp taskwait
    long nodes = 1;
    for (int i = 0; i < children; i++)
        nodes += below[i];
    return nodes;
}

int64_t bench_run(const bench_case *c)
{
    long result = 0;
#pragma omp parallel
#pragma omp single
    result = visit(TREE_DEPTH, (int)c->size);
    return result;
}
