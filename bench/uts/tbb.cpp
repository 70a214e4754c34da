#include "bench.h"
#include "tbb_arena.h"
#include "uts.h"

#include <tbb/task_group.h>
#include <vector>

static long count(const uts_node *parent, int number)
{
    uts_node node = parent ? uts_child(parent, number) : uts_root();
    int children = uts_children(&node);
    if (children == 0)
        return 1;
    std::vector<long> below(static_cast<size_t>(children));
    tbb::task_group group;
    for (int i = 0; i < children; i++)
        group.run([&below, &node, i] { below[static_cast<size_t>(i)] = count(&node, i); });
    group.wait();
    long nodes = 1;
    for (long n : below)
        nodes += n;
    return nodes;
}

int64_t bench_run(const bench_case *)
{
    return bench_arena().execute([] { return count(nullptr, 0); });
}
