#include "bench.h"
#include "knapsack.h"

#include <filch/task.h>

FILCH_VOID_TASK(explore, int, next, int, room, int, value)
{
    note_value(value);
    if (!is_promising(next, room, value))
        return;
    const thing *t = &knapsack_things[next];
    FILCH_SPAWN(explore, next + 1, room, value);
    if (t->weight <= room)
        FILCH_CALL(explore, next + 1, room - t->weight, value + t->value);
    FILCH_SYNC(explore);
}

int64_t bench_run(const bench_case *c)
{
    (void)c;
    FILCH_RUN(explore, 0, knapsack_capacity, 0);
    return best_so_far();
}
