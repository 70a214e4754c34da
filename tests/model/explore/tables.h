/* What is checked, and what must be caught: the data behind docs/memory-model.md. */
#ifndef EXPLORE_TABLES_H
#define EXPLORE_TABLES_H

#include "explore/program.h"

/* A part of the source, and the letters that its programs are made of. */
typedef struct kind {
    const char *name;
    void (*prepare)(check *c, const program *p);
    const char *owner, *thief;
    bool items;      /* there are some; else imm is rc11 */
    bool also_races; /* data races are looked for apart, as clocks multiply the states */
} kind;

/* Ended by a NULL name. */
extern const kind kinds[];

/* Programs that every order in the source must survive, smallest first; ended by a NULL kind. */
extern const program programs[];

/* Likewise, but too large to be explored to their end on machines other than tso. */
extern const program large_programs[];

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
