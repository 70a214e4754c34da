/* The options of cluster-sim. */
#ifndef FI_SIM_OPTIONS_H
#define FI_SIM_OPTIONS_H

#include "sim/sim.h"
#include "sim/trees.h"

typedef struct fi_sim_options {
    bool is_quick;
    bool is_one; /* options describe one setting; else the tables are printed */
    const fi_named_tree *tree;
    fi_sim_settings set; /* without the tree, which takes time to make */
} fi_sim_options;

/* Exits after --help, --version and usage errors. */
fi_sim_options fi_sim_options_parse(int argc, char **argv);

#endif
