/* The display of a process on a terminal, from two snapshots. */
#ifndef CLI_TOP_PRINT_H
#define CLI_TOP_PRINT_H

#include "top_snapshot.h"

#include <stdio.h>

/* How a worker has spent the time between the two: samples in which it was in each state. */
typedef struct top_shares {
    unsigned n_samples;
    unsigned in[3]; /* by top_state */
} top_shares;

/* Lines of at most `width` letters, at most `height` of them (0: as many as there are).  Rates
 * are per second, from the first snapshot to the second. */
void top_print(FILE *out, const top_snapshot *before, const top_snapshot *now,
               const top_shares *shares, const char *program, int width, int height);

#endif
