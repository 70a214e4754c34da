#include "bench.h"
#include "knapsack.h"

static void explore(int next, int room, int value)
{
    note_value(value);
    if (!is_promising(next, room, value))
        return;
    const thing *t = &knapsack_things[next];
#pragma omp task
    explore(next + 1, room, value);
    if (t->weight <= room)
        explore(next + 1, room - t->weight, value + t->value);
#pragma omp taskwait
}

int64_t bench_run(const bench_case *c)
{
    (void)c;
#pragma omp parallel
#pragma omp single
    explore(0, knapsack_capacity, 0);
    return best_so_far();
}
