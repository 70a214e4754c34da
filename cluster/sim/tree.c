#include "sim/tree.h"

#include "sim/bag.h"

#include <math.h>

#define TWO_32 4294967296.0
#define TWO_64 18446744073709551616.0

/* A geometric number with this mean is larger than k with probability (mean / (1 + mean))^(k +
 * 1). */
fi_tree fi_tree_geometric(uint64_t seed, unsigned levels, double mean)
{
    fi_tree tree = {.shape = FI_TREE_GEOMETRIC, .seed = seed, .levels = levels};

    for (unsigned k = 0; k < FI_TREE_CHILDREN_MAX; k++)
        tree.limits[k] = (uint32_t)(pow(mean / (1 + mean), k + 1) * TWO_32);
    return tree;
}

fi_tree fi_tree_binomial(uint64_t seed, unsigned root_children, double q, unsigned m)
{
    return (fi_tree){.shape = FI_TREE_BINOMIAL,
                     .seed = seed,
                     .root_children = root_children,
                     .m = m,
                     .q = (uint64_t)(q * TWO_64)};
}

fi_tree_sum fi_tree_walk(const fi_tree *tree, uint64_t first, unsigned n)
{
    fi_tree_sum sum = {0};
    fi_bag bag = {0};

    for (unsigned i = 0; i < n; i++)
        if (!fi_bag_push(&bag, fi_tree_root(tree, first + i)))
            goto fail;
    while (bag.n > 0)
        if (fi_bag_process(&bag, tree, UINT32_MAX, 0, &sum) == 0)
            goto fail;
    fi_bag_free(&bag);
    return sum;
fail:
    fi_bag_free(&bag);
    return (fi_tree_sum){0};
}
