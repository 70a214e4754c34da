#include "protocol/topology.h"

#define BITS 32u

uint32_t fi_lifelines(unsigned rank, unsigned ranks)
{
    uint32_t mask = 0;

    for (unsigned j = 0; j < BITS && 1u << j < ranks; j++)
        if (fi_lifeline(rank, j) < ranks)
            mask |= 1u << j;
    return mask;
}

int fi_lifeline_index(unsigned rank, unsigned other)
{
    uint32_t difference = rank ^ other;

    if (difference == 0 || (difference & (difference - 1)) != 0)
        return -1;
    return __builtin_ctz(difference);
}

unsigned fi_tree_n_children(unsigned rank, unsigned ranks)
{
    uint64_t first = (uint64_t)rank * FI_TREE_DEGREE + 1;

    if (first >= ranks)
        return 0;
    return ranks - first < FI_TREE_DEGREE ? (unsigned)(ranks - first) : FI_TREE_DEGREE;
}
