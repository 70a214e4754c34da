#include "bench.h"
#include "uts.h"

#include <filch/task.h>

FILCH_TASK(long, count, const uts_node *, parent, int, number)
{
    uts_node node = parent ? uts_child(parent, number) : uts_root();
    int children = uts_children(&node);
    for (int i = 0; i < children; i++)
        FILCH_SPAWN(count, &node, i);
    long nodes = 1;
    for (int i = 0; i < children; i++)
        nodes += FILCH_SYNC(count);
    return nodes;
}

int64_t bench_run(const bench_case *c)
{
    (void)c;
    return FILCH_RUN(count, NULL, 0);
}
