/* The seeds were searched for: with them, G13 and B13 have about the sizes of the trees T1L and T3L
 * of UTS, for which the goals were set. */
#include "sim/trees.h"

#include <stddef.h>
#include <strings.h>

const fi_named_tree fi_named_trees[] = {
    {.name = "G13",
     .about = "geometric, as T1L of UTS: mean 4, 13 levels, 101.4 M nodes",
     .shape = FI_TREE_GEOMETRIC,
     .seed = 52,
     .levels = 13,
     .mean = 4},
    {.name = "B13",
     .about = "binomial, as T3L of UTS: q 0.199996, m 5, 166.5 M nodes",
     .shape = FI_TREE_BINOMIAL,
     .seed = 1518,
     .root_children = 2000,
     .q = 0.199996,
     .m = 5},
    {.name = "G9",
     .about = "geometric: mean 4, 9 levels, 0.6 M nodes",
     .shape = FI_TREE_GEOMETRIC,
     .seed = 24,
     .levels = 9,
     .mean = 4},
    {.name = "B9",
     .about = "binomial: q 0.1996, m 5, 1.3 M nodes",
     .shape = FI_TREE_BINOMIAL,
     .seed = 1,
     .root_children = 2000,
     .q = 0.1996,
     .m = 5},
    {0},
};

const fi_named_tree *fi_named_tree_find(const char *name)
{
    for (const fi_named_tree *t = fi_named_trees; t->name; t++)
        if (strcasecmp(t->name, name) == 0)
            return t;
    return NULL;
}

fi_tree fi_named_tree_make(const fi_named_tree *named)
{
    if (named->shape == FI_TREE_GEOMETRIC)
        return fi_tree_geometric(named->seed, named->levels, named->mean);
    return fi_tree_binomial(named->seed, named->root_children, named->q, named->m);
}
