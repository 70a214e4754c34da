/* From values to places in a figure, and where the marks of an axis stand. */
#ifndef CLI_LAB_RULER_H
#define CLI_LAB_RULER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct ruler {
    double least, most; /* values */
    double from, to;    /* the places of these */
    bool log;
} ruler;

enum { RULER_TICKS = 16, RULER_LABEL = 24 };

/* One for nothing yet: the values that follow make it as wide as it has to be. */
ruler ruler_new(bool log);
void ruler_take(ruler *s, double value); /* passes over what is no number, or has no logarithm */

/* All values are known: some air around them, whole ticks at the ends of a linear one. */
void ruler_round(ruler *s, double from, double to);

double ruler_at(const ruler *s, double value);

/* The values of at most about `most` ticks, of RULER_TICKS; how many. */
int ruler_ticks(const ruler *s, int most, double ticks[RULER_TICKS]);

/* A value as it stands at an axis: 27M, 1.5k, 0.02. */
void ruler_label(double value, char out[RULER_LABEL]);

#endif
