#include "bench.h"
#include "knapsack.h"

static void explore(int next, int capacity, int value)
{
    note_value(value);
    if (!is_promising(next, capacity, value))
        return;
    const item *t = &knapsack_items[next];
    if (t->weight <= capacity)
        explore(next + 1, capacity - t->weight, value + t->value);
    explore(next + 1, capacity, value);
}

int64_t bench_run(const bench_case *c)
{
    (void)c;
    explore(0, knapsack_capacity, 0);
    return best_so_far();
}
