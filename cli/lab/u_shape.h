/* Does something fall and then rise?  By a rule that is fixed before one looks: the least median lies inside, and at both ends the
 * median is higher, for sure: 95 of 100 ratios of redrawn medians, end to least, are above 1. */
#ifndef CLI_LAB_U_SHAPE_H
#define CLI_LAB_U_SHAPE_H

#include "statistics.h"

#include <stdbool.h>

typedef struct u_shape {
    int least;         /* where the least median is; -1: nowhere */
    bool falls, rises; /* for sure: from the first to the least, and from there to the last */
    double fall, rise; /* ratios of medians: the first, and the last, to the least */
} u_shape;

/* Of n places, each with numbers that are not negative.  1 is added to all, so that ratios exist where there is 0. */
u_shape u_shape_of(const lab_numbers *at, int n);

#endif
