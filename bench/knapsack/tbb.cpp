#include "bench.h"
#include "knapsack.h"
#include "tbb_arena.h"

#include <tbb/task_group.h>

static void explore(int next, int capacity, int value)
{
    note_value(value);
    if (!is_promising(next, capacity, value))
        return;
    const item *t = &knapsack_items[next];
    tbb::task_group group;
    group.run([=] { explore(next + 1, capacity, value); });
    if (t->weight <= capacity)
        explore(next + 1, capacity - t->weight, value + t->value);
    group.wait();
}

int64_t bench_run(const bench_case *)
{
    bench_arena().execute([] { explore(0, knapsack_capacity, 0); });
    return best_so_far();
}
