#include "changes.h"

void changes_begin(changes *c, uint64_t grid, uint64_t stamp, int64_t size)
{
    *c = (changes){.grid = grid, .first = stamp, .size = size};
}

/* The place of changes by so many, up or down. */
static double *place(changes *c, int64_t l)
{
    if (l > CHANGES_MOST)
        l = CHANGES_MOST;
    if (l < -CHANGES_MOST)
        l = -CHANGES_MOST;
    return &c->by[CHANGES_MOST + l];
}

/* n in k steps: in each du = n/k, which is du/l changes by l. */
static void spread(changes *c, int64_t n, uint64_t k)
{
    uint64_t size = n < 0 ? (uint64_t)-n : (uint64_t)n;
    uint64_t l = (size + k - 1) / k;
    double changed = l == 0 ? 0 : (double)size / (double)l;
    *place(c, n < 0 ? -(int64_t)l : (int64_t)l) += changed;
    *place(c, 0) += (double)k - changed;
    c->steps += (double)k;
}

void changes_add(changes *c, uint64_t stamp, int64_t size)
{
    uint64_t step = (stamp - c->first) / c->grid;
    if (stamp < c->first || step <= c->step)
        return;
    spread(c, size - c->size, step - c->step);
    c->step = step;
    c->size = size;
}

void changes_skip(changes *c, uint64_t stamp, int64_t size)
{
    c->first = stamp;
    c->step = 0;
    c->size = size;
}

double changes_probability(const changes *c, int l)
{
    return c->steps > 0 ? c->by[CHANGES_MOST + l] / c->steps : 0;
}

double changes_beyond(const changes *c, int l)
{
    double sum = 0;
    for (int i = l + 1; i <= CHANGES_MOST; i++)
        sum += changes_probability(c, i) + changes_probability(c, -i);
    return sum;
}
