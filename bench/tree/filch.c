#include "bench.h"
#include "tree.h"

#include <filch/task.h>

FILCH_TASK(long, visit, int, depth, int, children)
{
    tree_touch();
    long nodes = 1;
    if (depth == 0)
        return nodes;
    for (int i = 0; i < children; i++)
        FILCH_SPAWN(visit, depth - 1, children);
    for (int i = 0; i < children; i++)
        nodes += FILCH_SYNC(visit);
    return nodes;
}

int64_t bench_run(const bench_case *c)
{
    return FILCH_RUN(visit, TREE_DEPTH, (int)c->size);
}
