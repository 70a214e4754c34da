/* Count the changes of one deque's size, for deque_sizes.c. */
#include "transitions.h"

void transitions_begin(transitions *c, uint64_t grid, uint64_t stamp, int64_t size)
{
    *c = (transitions){.grid = grid, .first = stamp, .size = size};
}

/* The counter of changes by l. */
static double *counter_of(transitions *c, int64_t l)
{
    if (l > TRANSITIONS_MAX)
        l = TRANSITIONS_MAX;
    if (l < -TRANSITIONS_MAX)
        l = -TRANSITIONS_MAX;
    return &c->by[TRANSITIONS_MAX + l];
}

/* n in k steps: du = n/k in each step, which is du/l changes by l. */
static void transitions_spread(transitions *c, int64_t n, uint64_t k)
{
    uint64_t size = n < 0 ? (uint64_t)-n : (uint64_t)n;
    uint64_t l = (size + k - 1) / k;
    double changed = l == 0 ? 0 : (double)size / (double)l;
    *counter_of(c, n < 0 ? -(int64_t)l : (int64_t)l) += changed;
    *counter_of(c, 0) += (double)k - changed;
    c->steps += (double)k;
}

void transitions_add(transitions *c, uint64_t stamp, int64_t size)
{
    uint64_t step = (stamp - c->first) / c->grid;
    if (stamp < c->first || step <= c->step)
        return;
    transitions_spread(c, size - c->size, step - c->step);
    c->step = step;
    c->size = size;
}

void transitions_skip(transitions *c, uint64_t stamp, int64_t size)
{
    c->first = stamp;
    c->step = 0;
    c->size = size;
}

double transitions_probability(const transitions *c, int l)
{
    return c->steps > 0 ? c->by[TRANSITIONS_MAX + l] / c->steps : 0;
}

double transitions_beyond(const transitions *c, int l)
{
    double sum = 0;
    for (int i = l + 1; i <= TRANSITIONS_MAX; i++)
        sum += transitions_probability(c, i) + transitions_probability(c, -i);
    return sum;
}
