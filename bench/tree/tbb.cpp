#include "bench.h"
#include "tbb_arena.h"
#include "tree.h"

#include <tbb/task_group.h>

static long visit(int depth, int children)
{
    tree_touch();
    if (depth == 0)
        return 1;
    long below[TREE_CHILDREN_MAX];
    tbb::task_group group;
    for (int i = 0; i < children; i++)
        group.run([&below, i, depth, children] { below[i] = visit(depth - 1, children); });
    group.wait();
    long nodes = 1;
    for (int i = 0; i < children; i++)
        nodes += below[i];
    return nodes;
}

int64_t bench_run(const bench_case *c)
{
    return bench_arena().execute([c] { return visit(TREE_DEPTH, static_cast<int>(c->size)); });
}
