/* The arguments of `filch lab`. */
#ifndef CLI_LAB_OPTIONS_H
#define CLI_LAB_OPTIONS_H

#include "lab.h"

enum { LAB_EXPERIMENTS_MAX = 16 };

typedef struct lab_chosen {
    const lab_experiment *experiments[LAB_EXPERIMENTS_MAX + 1]; /* terminated by NULL */
    bool all;
    bool report; /* write the report only */
    lab_options options;
} lab_chosen;

/* Exits for --help and for usage errors. */
lab_chosen lab_options_read(int argc, char **argv);

#endif
