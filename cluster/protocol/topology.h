/* The two graphs over the ranks: lifelines for work, a tree for counts and results.
 *
 * Lifelines form a hypercube: lifeline j of a rank is the rank whose number differs in bit j, if
 * there is one.  A rank reaches every other one: clear its bits from the lowest to the highest,
 * which leads to rank 0 over smaller numbers, and then set the bits of the other rank from the
 * highest to the lowest.  The graph is symmetric, so a bit mask can hold a rank's lifelines and
 * also the ranks that have it as a lifeline. */
#ifndef FI_CLUSTER_TOPOLOGY_H
#define FI_CLUSTER_TOPOLOGY_H

#include <stdint.h>

#define FI_TREE_DEGREE 8u

/* Lifeline j of the rank. */
static inline unsigned fi_lifeline(unsigned rank, unsigned j)
{
    return rank ^ 1u << j;
}

/* The mask of all j for which the rank has a lifeline. */
uint32_t fi_lifelines(unsigned rank, unsigned ranks);

/* Which lifeline of the rank is `other`?  -1: none. */
int fi_lifeline_index(unsigned rank, unsigned other);

/* The parent of a rank that is not 0. */
static inline unsigned fi_tree_parent(unsigned rank)
{
    return (rank - 1) / FI_TREE_DEGREE;
}

/* The children of a rank are consecutive: this one and those after it. */
static inline unsigned fi_tree_first_child(unsigned rank)
{
    return rank * FI_TREE_DEGREE + 1;
}

unsigned fi_tree_n_children(unsigned rank, unsigned ranks);

#endif
