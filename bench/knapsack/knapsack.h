/* 0/1 knapsack: the largest total value of items that fit into the capacity.
 *
 * Branch and bound over the items in the order of their value per weight: take the next item or
 * leave it.  A branch is cut if its upper bound does not exceed the best value found by any task.
 * How many branches are cut depends on the schedule, so the number of visited nodes varies; the
 * result does not. */
#ifndef BENCH_KNAPSACK_H
#define BENCH_KNAPSACK_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { KNAPSACK_MAX = 26 };

typedef struct item {
    int value, weight;
} item;

extern const item knapsack_items[KNAPSACK_MAX];
extern int knapsack_count, knapsack_capacity;
extern int knapsack_best; /* best value found so far by any task */

/* relaxed: the value only cuts branches earlier and publishes no other data. */
static inline int best_so_far(void)
{
    return __atomic_load_n(&knapsack_best, __ATOMIC_RELAXED);
}

static inline void note_value(int value)
{
    int best = best_so_far();
    while (value > best && !__atomic_compare_exchange_n(&knapsack_best, &best, value, true,
                                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

/* Can the items from `next` on still improve the best value?  Upper bound: fill the remaining
 * capacity with fractions of the next item. */
static inline bool is_promising(int next, int capacity, int value)
{
    const item *t = &knapsack_items[next];
    return next < knapsack_count && capacity > 0 &&
           capacity * t->value > (best_so_far() - value) * t->weight;
}

#ifdef __cplusplus
}
#endif

#endif
