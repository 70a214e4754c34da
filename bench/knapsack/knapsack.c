/* The input of the knapsack programs, and its solution by dynamic programming. */
#include "knapsack.h"
#include "bench.h"

#include <string.h>

/* A hard case for the upper bound of is_promising: each item's value is its weight plus 1, all weights are even and the
 * capacity is odd, so no choice fills the knapsack and many choices are equally good.  Sorted by
 * value per weight. */
const item knapsack_items[KNAPSACK_MAX] = {
    {137, 136}, {189, 188}, {193, 192}, {227, 226}, {235, 234}, {239, 238}, {253, 252},
    {257, 256}, {273, 272}, {281, 280}, {283, 282}, {283, 282}, {285, 284}, {291, 290},
    {291, 290}, {299, 298}, {301, 300}, {319, 318}, {327, 326}, {331, 330}, {333, 332},
    {339, 338}, {349, 348}, {357, 356}, {387, 386}, {397, 396},
};

enum { CAPACITY_MAX = 4000 };

int knapsack_count, knapsack_capacity, knapsack_best;

/* Half of the total weight, made odd. */
static int capacity_for(int count)
{
    int weight = 0;
    for (int i = 0; i < count; i++)
        weight += knapsack_items[i].weight;
    return weight / 2 | 1;
}

/* The expected result by dynamic programming: the best value for every capacity, item by item. */
static int best_by_table(void)
{
    static int best[CAPACITY_MAX + 1];
    memset(best, 0, sizeof best);
    for (int i = 0; i < knapsack_count; i++) {
        const item *t = &knapsack_items[i];
        for (int capacity = knapsack_capacity; capacity >= t->weight; capacity--)
            if (best[capacity - t->weight] + t->value > best[capacity])
                best[capacity] = best[capacity - t->weight] + t->value;
    }
    return best[knapsack_capacity];
}

static const char *prepare(bench_case *c)
{
    knapsack_count = (int)c->size;
    knapsack_capacity = capacity_for(knapsack_count);
    if (knapsack_capacity > CAPACITY_MAX)
        return "the items are too heavy for the table of the dynamic programming";
    c->expected = best_by_table();
    c->spawns = 0; /* varies from run to run */
    return NULL;
}

static void reset(void)
{
    knapsack_best = 0;
}

static const bench_input inputs[] = {
    {NULL, "the number of items", 1, KNAPSACK_MAX, KNAPSACK_MAX, 21},
    {0},
};

const bench_workload bench_the_workload = {
    .name = "knapsack",
    .inputs = inputs,
    .prepare = prepare,
    .reset = reset,
};
