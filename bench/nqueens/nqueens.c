/* Count the placements of n queens on an n x n board without attacks.  One task per queen. */
#include "nqueens.h"
#include "bench.h"

/* The expected result by bit masks of attacked columns.  Also counts the placed queens. */
static int64_t count(unsigned all, unsigned columns, unsigned left, unsigned right,
                     uint64_t *placed)
{
    if (columns == all)
        return 1;
    int64_t found = 0;
    for (unsigned open = all & ~(columns | left | right); open != 0; open &= open - 1) {
        unsigned queen = open & (0 - open);
        ++*placed;
        found += count(all, columns | queen, (left | queen) << 1, (right | queen) >> 1, placed);
    }
    return found;
}

static const char *prepare(bench_case *c)
{
    c->spawns = 0;
    c->expected = count((1u << c->size) - 1, 0, 0, 0, &c->spawns);
    return NULL;
}

static const bench_input inputs[] = {
    {NULL, "the number of queens", 1, NQUEENS_MAX, 12, 11},
    {0},
};

const bench_workload bench_the_workload = {
    .name = "nqueens",
    .inputs = inputs,
    .prepare = prepare,
};
