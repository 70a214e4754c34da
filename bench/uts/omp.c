#include "bench.h"
#include "uts.h"

static long count(const uts_node *parent, int number)
{
    uts_node node = parent ? uts_child(parent, number) : uts_root();
    int children = uts_children(&node);
    if (children == 0)
        return 1;
    long below[children];
    for (int i = 0; i < children; i++)
#pragma omp task shared(below, node)
        below[i] = count(&node, i);
#pragma omp taskwait
    long nodes = 1;
    for (int i = 0; i < children; i++)
        nodes += below[i];
    return nodes;
}

int64_t bench_run(const bench_case *c)
{
    (void)c;
    long result = 0;
#pragma omp parallel
#pragma omp single
    result = count(NULL, 0);
    return result;
}
