/* What is checked, and what must be caught: the data behind docs/memory-model.md. */
#ifndef EXPLORE_TABLES_H
#define EXPLORE_TABLES_H

#include "explore/program.h"

/* Programs that every order in the source must survive, smallest first; ended by a NULL kind. */
extern const program programs[];

/* A weakened source, and the verdict in each mode: OK means that no program shows a fault there. */
typedef struct mutant {
    const char *what;
    const char *kind; /* of the programs that are tried */
    weakening weaken[2];
    verdict expected[MODES];
    const char *why_kept; /* for a mutant that no mode catches */
} mutant;

extern const mutant mutants[];

#endif
