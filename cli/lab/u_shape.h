/* Does a quantity fall and then rise?  The rule is fixed in advance: the min median is inside,
 * and at both ends the median is significantly higher, that is, the 95 % bootstrap interval of
 * the ratio to the min is above 1. */
#ifndef CLI_LAB_U_SHAPE_H
#define CLI_LAB_U_SHAPE_H

#include "statistics.h"

#include <stdbool.h>

typedef struct u_shape {
    int min_index;     /* index of the min median; -1: none */
    bool falls, rises; /* significantly: from the first to the min, and from there to the last */
    double fall, rise; /* ratios of the first and of the last median to the min */
} u_shape;

/* Of n arrays of non-negative numbers.  1 is added to all, so that ratios exist for 0. */
u_shape u_shape_of(const lab_numbers *at, int n);

#endif
