/* Which things to pack: the most value that fits into a knapsack.
 *
 * Branch and bound, over things in the order of their value per weight: take the next one or leave
 * it, and give up where even the best that could follow is no better than what somebody has found.
 * How many branches are given up depends on who finds what when, so every run visits another number
 * of them; the answer is the same. */
#ifndef BENCH_KNAPSACK_H
#define BENCH_KNAPSACK_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { KNAPSACK_MAX = 26 };

typedef struct thing {
    int value, weight;
} thing;

extern const thing knapsack_things[KNAPSACK_MAX];
extern int knapsack_count, knapsack_capacity;
extern int knapsack_best; /* the best found so far, by anybody */

/* Others read it to give up earlier, and publish nothing else by it: no order is needed. */
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

/* Could the things from `next` on still make this the best?  As if the next could be cut to fill all
 * the room that is left. */
static inline bool is_promising(int next, int room, int value)
{
    const thing *t = &knapsack_things[next];
    return next < knapsack_count && room > 0 &&
           room * t->value > (best_so_far() - value) * t->weight;
}

#ifdef __cplusplus
}
#endif

#endif
