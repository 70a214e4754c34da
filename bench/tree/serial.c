#include "bench.h"
#include "tree.h"

/* noinline: most nodes are leaves, and an inlined leaf is an addition instead of a call. */
__attribute__((noinline)) static long visit(int depth, int children)
{
    tree_touch();
    long nodes = 1;
    if (depth == 0)
        return nodes;
    for (int i = 0; i < children; i++)
        nodes += visit(depth - 1, children);
    return nodes;
}

int64_t bench_run(const bench_case *c)
{
    return visit(TREE_DEPTH, (int)c->size);
}
