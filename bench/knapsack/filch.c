#include "bench.h"
#include "knapsack.h"

#include <filch/task.h>

FILCH_VOID_TASK(explore, int, next, int, capacity, int, value)
{
    note_value(value);
    if (!is_promising(next, capacity, value))
        return;
    const item *t = &knapsack_items[next];
    FILCH_SPAWN(explore, next + 1, capacity, value);
    if (t->weight <= capacity)
        FILCH_CALL(explore, next + 1, capacity - t->weight, value + t->value);
    FILCH_SYNC(explore);
}

int64_t bench_run(const bench_case *c)
{
    (void)c;
    FILCH_RUN(explore, 0, knapsack_capacity, 0);
    return best_so_far();
}
