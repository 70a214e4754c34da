/* The trees that the command line names. */
#ifndef FI_SIM_TREES_H
#define FI_SIM_TREES_H

#include "sim/tree.h"

typedef struct fi_named_tree {
    const char *name, *about;
    fi_tree_shape shape;
    uint64_t seed;
    unsigned levels;        /* geometric */
    double mean;            /* geometric */
    unsigned root_children; /* binomial */
    double q;               /* binomial */
    unsigned m;             /* binomial */
} fi_named_tree;

/* Terminated by an entry without a name. */
extern const fi_named_tree fi_named_trees[];

/* NULL: there is no tree with this name. */
const fi_named_tree *fi_named_tree_find(const char *name);

fi_tree fi_named_tree_make(const fi_named_tree *named);

#endif
