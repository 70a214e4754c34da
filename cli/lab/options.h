/* The words of `filch lab`. */
#ifndef CLI_LAB_OPTIONS_H
#define CLI_LAB_OPTIONS_H

#include "lab.h"

enum { LAB_EXPERIMENTS_MAX = 16 };

typedef struct lab_chosen {
    const lab_experiment *experiments[LAB_EXPERIMENTS_MAX + 1]; /* ended by NULL */
    bool all;
    bool report; /* of what was measured, and nothing else */
    lab_options options;
} lab_chosen;

/* Ends the program for --help and for what is not understood. */
lab_chosen lab_options_read(int argc, char **argv);

#endif
