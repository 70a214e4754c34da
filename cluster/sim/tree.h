/* Trees of the Unbalanced Tree Search benchmark, with splitmix64 in place of SHA-1.  The nodes are
 * the items of the simulation.  The children of a node depend on its state and its depth only, so
 * the tree is the same in every run. */
#ifndef FI_SIM_TREE_H
#define FI_SIM_TREE_H

#include "sim/random.h"

#include <stdint.h>

typedef struct fi_item {
    uint64_t state;
    uint64_t depth;
} fi_item;

enum { FI_TREE_CHILDREN_MAX = 100 }; /* as in UTS; the root of a binomial tree may have more */

typedef enum fi_tree_shape {
    FI_TREE_GEOMETRIC, /* nodes above the last level have 0, 1, ... children; the mean is given */
    FI_TREE_BINOMIAL,  /* a node has m children with probability q, and no child otherwise */
} fi_tree_shape;

typedef struct fi_tree {
    fi_tree_shape shape;
    uint64_t seed;
    unsigned levels;        /* geometric: nodes of this depth are leaves */
    unsigned root_children; /* binomial */
    unsigned m;             /* binomial */
    uint64_t q;             /* binomial: the probability times 2^64 */
    /* geometric: a node has more than k children with probability limits[k] / 2^32 */
    uint32_t limits[FI_TREE_CHILDREN_MAX];
} fi_tree;

/* What a walk over a set of items finds. */
typedef struct fi_tree_sum {
    uint64_t count;
    uint64_t hash; /* the sum of all states */
} fi_tree_sum;

fi_tree fi_tree_geometric(uint64_t seed, unsigned levels, double mean);
fi_tree fi_tree_binomial(uint64_t seed, unsigned root_children, double q, unsigned m);

/* The root of tree number `number`: a settings may use several trees of the same shape. */
static inline fi_item fi_tree_root(const fi_tree *tree, uint64_t number)
{
    return (fi_item){fi_mix((tree->seed + (number << 32)) * FI_GOLDEN + 1), 0};
}

static inline unsigned fi_tree_n_geometric(const fi_tree *tree, fi_item item)
{
    uint32_t x = (uint32_t)(item.state >> 32);
    unsigned k = 0;

    if (item.depth >= tree->levels)
        return 0;
    while (k < FI_TREE_CHILDREN_MAX && x < tree->limits[k])
        k++;
    return k;
}

static inline unsigned fi_tree_n_children_of(const fi_tree *tree, fi_item item)
{
    if (tree->shape == FI_TREE_GEOMETRIC)
        return fi_tree_n_geometric(tree, item);
    if (item.depth == 0)
        return tree->root_children;
    return item.state < tree->q ? tree->m : 0;
}

/* Child number i, from 0 on. */
static inline fi_item fi_tree_child(fi_item parent, unsigned i)
{
    return (fi_item){fi_mix(parent.state + (i + 1) * FI_GOLDEN), parent.depth + 1};
}

/* Visit all nodes of the trees first to first + n - 1 in one thread.  count 0: there is no
 * memory. */
fi_tree_sum fi_tree_walk(const fi_tree *tree, uint64_t first, unsigned n);

#endif
