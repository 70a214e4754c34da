/* The display of a table of ranks. */
#ifndef CLI_RANKS_PRINT_H
#define CLI_RANKS_PRINT_H

#include "ranks_table.h"

#include <stdio.h>

/* What has changed per second. */
typedef struct ranks_rates {
    bool is_known;
    double items, loots_in, loots_out, bytes_in, bytes_out, asks;
    double hungry; /* share of time */
} ranks_rates;

typedef struct ranks_view {
    ranks_snapshot now;
    filch_ranks_sums last_sums;
    filch_ranks_row last[FILCH_RANKS_ROWS];
    ranks_rates sum_rates, rates[FILCH_RANKS_ROWS];
} ranks_view;

/* Compute rates from the last values and those of now.  A rank reports once a second.  Its rates
 * are those between its last two reports, however often the screen is updated. */
void ranks_view_update(ranks_view *v);

/* Lines of at most `width` letters, at most `height` of them (0: as many as there are). */
void ranks_print(FILE *out, const ranks_view *v, pid_t pid, const char *program, int width,
                 int height);

#endif
