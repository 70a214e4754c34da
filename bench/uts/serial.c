#include "bench.h"
#include "uts.h"

static long count(const uts_node *parent, int number)
{
    uts_node node = parent ? uts_child(parent, number) : uts_root();
    int children = uts_children(&node);
    long nodes = 1;
    for (int i = 0; i < children; i++)
        nodes += count(&node, i);
    return nodes;
}

int64_t bench_run(const bench_case *c)
{
    (void)c;
    return count(NULL, 0);
}
